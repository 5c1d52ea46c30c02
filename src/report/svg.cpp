// The race timeline as SVG; see svg.hpp. SVG 1.1 with title, desc and role as the accessibility
// mappings ask for (SVG-AAM 1.0, section 5).
#include "report/svg.hpp"

#include "report/document.hpp"
#include "report/timeline.hpp"

#include <fmt/format.h>

namespace assay::report {

namespace {

constexpr int kWidth = 960, kMargin = 24, kLane[2] = {90, 560}; // x of the two lines
constexpr int kTop = 70, kRow = 44, kText = 18;                 // kText: from the line to its text
constexpr size_t kColumns = 52, kBold = 44; // of code beside a line, of bold text

// Colours stand in plain rules, those for dark pages in a second set: many viewers know neither
// variables nor media queries, and must still find the first.
constexpr const char* kStyle =
    ".assay{color-scheme:light dark}"
    ".assay text{font:14px system-ui,sans-serif;fill:#1f2328}"
    ".assay .code{font:12px ui-monospace,monospace;fill:#59636e}"
    ".assay .head{font-weight:600}.assay .bad{fill:#c0182a;font-weight:600}"
    ".assay .odd{fill:#9a5b00;font-weight:600}.assay .bartext{fill:#0b5cad}"
    ".assay .number{fill:#59636e;text-anchor:end}"
    ".assay .paper{fill:#ffffff}.assay .lane{stroke:#8c959f;stroke-width:2}"
    ".assay .bar{stroke:#0b5cad;stroke-width:4}.assay .dot{fill:#8c959f}"
    ".assay .hit{fill:#c0182a}.assay .fault{fill:#9a5b00}"
    ".assay .gap{stroke:#c0182a;stroke-width:2;stroke-dasharray:7 5;fill:none}"
    "@media(prefers-color-scheme:dark){"
    ".assay text{fill:#e6edf3}.assay .code,.assay .number{fill:#9ba5af}"
    ".assay .paper{fill:#0d1117}.assay .bad,.assay .hit{fill:#ff7b72}"
    ".assay .odd,.assay .fault{fill:#e3b341}.assay .bartext{fill:#79c0ff}"
    ".assay .lane{stroke:#6e7681}.assay .dot{fill:#6e7681}.assay .bar{stroke:#79c0ff}"
    ".assay .gap{stroke:#ff7b72}}";

class Picture {
public:
  Picture(const Finding& finding, Sources& sources) : finding_(finding), sources_(sources) {}

  std::string draw(const std::string& name, bool inlined) {
    if (finding_.timeline.steps.empty()) return "";
    std::string charts = chart(finding_.timeline);
    for (const Timeline& more : finding_.more_lanes) charts += chart(more);
    std::string out = inlined ? "" : "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    out += fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"assay\" role=\"img\" "
                       "aria-labelledby=\"{0}-title {0}-desc\" viewBox=\"0 0 {1} {2}\" "
                       "width=\"{1}\" height=\"{2}\">\n",
                       name, kWidth, y_ + kMargin);
    out += fmt::format("<title id=\"{}-title\">{}: timeline of the {}threads</title>\n", name,
                       escape(finding_.kind), finding_.timeline.stuck ? "" : "two ");
    out += fmt::format("<desc id=\"{}-desc\">{}</desc>\n<style>{}</style>\n", name,
                       escape(finding_.message), kStyle);
    out +=
        fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", kWidth, y_ + kMargin);
    return out + charts + "</svg>\n";
  }

private:
  // Two lanes, below what is drawn already.
  std::string chart(const Timeline& t) {
    const int top = y_;
    body_.clear();
    y_ = top + kTop;
    uint8_t seen = 0;
    int ends[2] = {0, 0};
    for (const TimelineStep& step : t.steps) {
      if (step.left_out) skipped(step);
      if (step.waits) {
        ends[step.sides == 2 ? 1 : 0] = y_;
        waits(step);
        continue;
      }
      const bool second = step.access && (seen | step.access) == 3 && !gap_;
      if (second) gap();
      seen |= step.access;
      row(step);
    }
    if (!t.stuck) edge();
    y_ = std::max(y_, deepest_); // those who wait stand beside each other
    const int lanes_end = y_;
    if (!t.stuck) outcomes();
    std::string out;
    for (int side = 0; side < 2 && !t.lanes[side].empty(); ++side) {
      out += text(kLane[side], top + 32, t.lanes[side], "head");
      out += fmt::format("<line class=\"lane\" x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\"/>\n",
                         kLane[side], top + 44, ends[side] ? ends[side] : lanes_end);
    }
    out += text(kMargin, top + 54, "time ↓", "code");
    return out + body_;
  }

  // The end of a lane.
  void waits(const TimelineStep& step) {
    const int x = kLane[step.sides == 2 ? 1 : 0];
    body_ += fmt::format("<rect class=\"hit\" x=\"{}\" y=\"{}\" width=\"16\" height=\"16\"/>\n",
                         x - 8, y_ - 8);
    if (step.place.line)
      body_ += text(x - 14, y_ + 5, fmt::format("{}", step.place.line), "number");
    int y = y_ + 5;
    for (const std::string& row : wrapped(step.what, kBold)) {
      body_ += text(x + kText, y, row, "bad");
      y += 18;
    }
    body_ += text(x + kText, y, cut(sources_.code(step.place), kColumns), "code");
    for (const std::string& row : wrapped("expected: " + step.expected, kColumns))
      body_ += text(x + kText, y += 18, row, "plain");
    deepest_ = std::max(deepest_, y);
  }

  static std::string text(int x, int y, const std::string& what, const char* style) {
    return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, style,
                       escape(what));
  }

  static std::string who(const TimelineStep& step) {
    std::string out = step.what;
    if (!step.who.empty()) out += " by " + step.who;
    if (step.times > 1) out += fmt::format(" ×{}", step.times);
    return out;
  }

  void skipped(const TimelineStep& step) {
    const int x = kLane[step.sides == 2 ? 1 : 0];
    body_ += text(x + kText, y_ + 5,
                  fmt::format("({} earlier step{})", step.left_out, step.left_out == 1 ? "" : "s"),
                  "code");
    y_ += kRow * 2 / 3;
  }

  void row(const TimelineStep& step) {
    if (step.barrier) return barrier(step);
    for (int side = 0; side < 2; ++side)
      if (step.sides >> side & 1) mark(step, side);
    y_ += kRow;
  }

  void mark(const TimelineStep& step, int side) {
    const int x = kLane[side];
    const char* style = step.access ? "hit" : step.at_fault ? "fault" : "dot";
    body_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", style, x, y_,
                         step.access ? 8 : 5);
    if (step.place.line)
      body_ +=
          text(x - 14, y_ + (step.access ? -7 : 5), fmt::format("{}", step.place.line), "number");
    body_ += text(x + kText, y_ + 1, cut(who(step), kColumns),
                  step.access     ? "bad"
                  : step.at_fault ? "odd"
                                  : "plain");
    body_ += text(x + kText, y_ + 18, cut(sources_.code(step.place), kColumns), "code");
    for (int bit = 0; bit < 2; ++bit)
      if (step.access >> bit & 1) at_[bit] = {kLane[step.access == 3 ? bit : side], y_};
  }

  void barrier(const TimelineStep& step) {
    body_ += fmt::format("<line class=\"bar\" x1=\"{0}\" y1=\"{2}\" x2=\"{1}\" y2=\"{2}\"/>\n",
                         kLane[0] - 8, kLane[1] + 8, y_);
    body_ += text(kLane[0] - 14, y_ + 5, fmt::format("{}", step.place.line), "number");
    if (step.other_line)
      body_ += text(kLane[1] + kText, y_ + 5, fmt::format("{}", step.other_line), "plain");
    std::string code = sources_.code(step.place);
    body_ += text(kLane[0] + kText, y_ - 7,
                  cut(code.empty() ? who(step) : who(step) + ": " + code, 60), "bartext");
    y_ += kRow;
  }

  // Room for what is missing, written where the dashed line passes.
  void gap() {
    gap_ = y_;
    const Timeline& t = finding_.timeline;
    std::string what = t.missing.empty() ? "✗ unordered: the schedule chooses"
                                         : "✗ unordered; missing: " + t.missing;
    if (!t.scope.empty()) what += fmt::format(" [{}]", t.scope);
    gap_text_ = cut(what, 2 * kBold);
    y_ += kRow * 3 / 4;
  }

  // Round the texts: out of the first lane to the left, down to where it is written, across, down
  // to the second access.
  void edge() {
    const auto &a = at_[0], &b = at_[1];
    const int left = kLane[0] - 46, right = kLane[1] - 46, across = gap_ - 7;
    body_ += fmt::format("<path class=\"gap\" d=\"M{} {} H{} V{} H{} V{} H{}\"/>\n", a.x - 8, a.y,
                         left, across, right, b.y, b.x - 8);
    // On paper of its own, so that no line runs through it.
    const int width = int(columns(gap_text_)) * 8 + 16;
    body_ += fmt::format("<rect class=\"paper\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"22\"/>\n",
                         kLane[0] + kText - 8, gap_ - 18, width);
    body_ += text(kLane[0] + kText, gap_ - 2, gap_text_, "bad");
  }

  void outcomes() {
    if (!finding_.timeline.both_orders || finding_.differing.empty()) return;
    y_ += kRow / 2;
    const char* names[2] = {"in this order:", "in the other order:"};
    for (int order = 0; order < 2; ++order) {
      int y = y_;
      body_ += text(kLane[order], y, names[order], "head");
      for (const Differing& d : finding_.differing) {
        y += 20;
        body_ += text(
            kLane[order], y,
            cut(fmt::format("{} at byte {}: {}", d.buffer, d.offset, order ? d.b : d.a), kColumns),
            "code");
      }
    }
    y_ += 20 * int(finding_.differing.size()) + 8;
  }

  struct Point {
    int x = 0, y = 0;
  };
  const Finding& finding_;
  Sources& sources_;
  std::string body_, gap_text_;
  int y_ = 0, gap_ = 0, deepest_ = 0;
  Point at_[2];
};

} // namespace

std::string print_svg(const Finding& finding, Sources& sources, const std::string& name,
                      bool inlined) {
  return Picture(finding, sources).draw(name, inlined);
}

} // namespace assay::report
