// The race timeline as text; see timeline.hpp.
#include "report/timeline.hpp"

#include "base/text.hpp"
#include "report/paint.hpp"

#include <algorithm>

namespace assay::report {

size_t columns(std::string_view text) {
  return size_t(
      std::count_if(text.begin(), text.end(), [](char c) { return (uint8_t(c) & 0xc0) != 0x80; }));
}

std::string cut(const std::string& text, size_t most) {
  if (columns(text) <= most) return text;
  size_t end = 0;
  for (size_t n = 0; end < text.size(); ++end)
    if ((uint8_t(text[end]) & 0xc0) != 0x80 && n++ + 1 >= most) break;
  return text.substr(0, end) + "…";
}

std::vector<std::string> wrapped(const std::string& text, size_t most) {
  std::vector<std::string> rows(1);
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find(' ', from), text.size());
    const std::string word = text.substr(from, end - from);
    if (!rows.back().empty() && columns(rows.back()) + 1 + columns(word) > most)
      rows.emplace_back("  ");
    rows.back() += (rows.back().empty() || rows.back() == "  " ? "" : " ") + word;
    from = end + 1;
  }
  return rows;
}

std::string step_text(const TimelineStep& step, Sources& sources) {
  std::string out = step.what;
  if (!step.who.empty()) out += " by " + step.who;
  if (step.times > 1) out += fmt::format(" ×{}", step.times);
  std::string code = sources.code(step.place);
  // Inline PTX says itself what it is.
  return code.empty() || code.find(step.what) != std::string::npos
             ? out
             : out + ": " + printable(code, 400);
}

namespace {

std::string repeat(const char* what, size_t n) {
  std::string out;
  while (n--) out += what;
  return out;
}

class Chart {
public:
  Chart(const Finding& finding, const Timeline& timeline, size_t indent, const Style& style,
        Sources& sources)
      : finding_(finding), timeline_(timeline), style_(style), sources_(sources), indent_(indent) {
    for (const TimelineStep& step : timeline_.steps)
      number_ = std::max({number_, fmt::format("{}", step.place.line).size(),
                          fmt::format("{}", step.other_line).size()});
    size_t width = std::clamp<size_t>(style.width, 60, 140) - indent;
    lane_ = (width - 1) / (alone() ? 1 : 2); // number, blank, symbol, blank, text
  }

  std::string draw() {
    if (timeline_.steps.empty()) return "";
    line(cell(0, " ", timeline_.lanes[0], Paint::strong),
         cell(0, " ", timeline_.lanes[1], Paint::strong));
    bool missing = false;
    uint8_t seen = 0;
    for (const TimelineStep& step : timeline_.steps) {
      if (step.left_out) skipped(step);
      if (step.waits) continue;
      // Between the two: before the second access, or, where one step is both, before it.
      if (!missing && step.access && (seen | step.access) == 3) missing = gap();
      seen |= step.access;
      row(step);
    }
    waits();
    outcomes();
    return std::move(out_);
  }

private:
  struct Cell {
    std::string text; // with colours
    size_t columns = 0;
  };

  Cell cell(uint32_t number, const char* symbol, const std::string& text, Paint what,
            bool plain = false) const {
    std::string digits =
        number ? fmt::format("{:>{}}", number, number_) : std::string(number_, ' ');
    std::string shown = cut(text, lane_ - number_ - 4);
    std::string mark = plain ? paint(symbol, Paint::frame, style_) : paint(symbol, what, style_);
    Cell out;
    out.text = paint(digits, Paint::frame, style_) + " " + mark;
    out.columns = number_ + 2;
    if (shown.empty()) return out;
    out.text += " " + (plain ? shown : paint(shown, what, style_));
    out.columns += 1 + columns(shown);
    return out;
  }
  bool alone() const { return timeline_.lanes[1].empty(); }
  Cell empty(int side) const { return cell(0, side && alone() ? " " : "│", "", Paint::frame); }

  void line(const Cell& left, const Cell& right) {
    std::string pad(left.columns < lane_ ? lane_ - left.columns : 0, ' ');
    std::string row = std::string(indent_, ' ') + left.text + pad + " " + right.text;
    while (row.back() == ' ') row.pop_back();
    out_ += row + "\n";
  }
  void in_lane(uint8_t sides, const Cell& cell) {
    line(sides & 1 ? cell : empty(0), sides & 2 ? cell : empty(1));
  }

  // The ends of lanes, beside each other: what their threads wait for, and who could end that.
  void waits() {
    std::vector<Cell> ends[2];
    for (const TimelineStep& step : timeline_.steps)
      if (step.waits) ends[step.sides == 2 ? 1 : 0] = end_of(step);
    const Cell nothing = cell(0, " ", "", Paint::frame);
    for (size_t i = 0; i < std::max(ends[0].size(), ends[1].size()); ++i)
      line(i < ends[0].size() ? ends[0][i] : nothing, i < ends[1].size() ? ends[1][i] : nothing);
  }

  std::vector<Cell> end_of(const TimelineStep& step) const {
    const size_t inside = lane_ - number_ - 4;
    std::vector<std::string> rows = wrapped(step.what, inside);
    const size_t own = rows.size();
    const std::string code = printable(sources_.code(step.place), 400);
    if (!code.empty()) rows.push_back(code);
    for (std::string& row : wrapped("expected: " + step.expected, inside))
      rows.push_back(std::move(row));
    std::vector<Cell> out;
    for (size_t i = 0; i < rows.size(); ++i)
      out.push_back(cell(i ? 0 : step.place.line, i ? " " : "■", rows[i], Paint::error, i >= own));
    return out;
  }

  void skipped(const TimelineStep& step) {
    in_lane(step.sides,
            cell(0, "┊",
                 fmt::format("{} earlier step{}", step.left_out, step.left_out == 1 ? "" : "s"),
                 Paint::frame, true));
  }

  void row(const TimelineStep& step) {
    std::string text = step_text(step, sources_);
    if (step.barrier) return barrier(step, text);
    Paint what = step.access ? Paint::error : step.at_fault ? Paint::warning : Paint::frame;
    const char* symbol = step.access ? "●" : step.at_fault ? "◆" : "├";
    Cell one = cell(step.place.line, symbol, text, what, !step.access && !step.at_fault);
    in_lane(step.sides, one);
  }

  // Across both lanes, from one symbol to the other.
  void barrier(const TimelineStep& step, const std::string& text) {
    size_t inside = lane_; // columns between the two symbols
    std::string shown = cut(text, inside - 6);
    size_t left = (inside - columns(shown) - 2) / 2, right = inside - columns(shown) - 2 - left;
    std::string number = fmt::format("{:>{}} ", step.place.line, number_);
    std::string bar = "╪" + repeat("═", left) + " " + shown + " " + repeat("═", right) + "╪";
    out_ += std::string(indent_, ' ') + paint(number + bar, Paint::frame, style_);
    if (step.other_line) out_ += fmt::format(" {}", step.other_line);
    out_ += "\n";
  }

  // What is missing, wrapped between the two lanes.
  bool gap() {
    std::string text = "✗ unordered";
    text +=
        timeline_.missing.empty() ? ": the schedule chooses" : "; missing: " + timeline_.missing;
    if (!timeline_.scope.empty()) text += fmt::format(" [{}]", timeline_.scope);
    size_t inside = lane_;
    const std::vector<std::string> rows = wrapped(text, inside - 2);
    for (const std::string& row : rows) {
      size_t pad = columns(row) + 2 < inside ? inside - columns(row) - 2 : 0;
      out_ += std::string(indent_ + number_ + 1, ' ') + paint("╎", Paint::error, style_) + " " +
              paint(row, Paint::error, style_) + std::string(pad + 1, ' ') +
              paint("╎", Paint::error, style_) + "\n";
    }
    return true;
  }

  void outcomes() {
    if (timeline_.stuck || !timeline_.both_orders || finding_.differing.empty()) return;
    const Differing& d = finding_.differing.front();
    std::string pad(indent_ + number_ + 1, ' ');
    std::string where = fmt::format("{} at byte {}: ", d.buffer, d.offset);
    out_ +=
        fmt::format("{}= {} {}\n", pad, paint("this order: ", Paint::strong, style_), where + d.a);
    out_ +=
        fmt::format("{}= {} {}\n", pad, paint("other order:", Paint::strong, style_), where + d.b);
  }

  const Finding& finding_;
  const Timeline& timeline_;
  const Style& style_;
  Sources& sources_;
  size_t indent_, number_ = 1, lane_ = 0;
  std::string out_;
};

} // namespace

std::string print_timeline(const Finding& finding, size_t indent, const Style& style,
                           Sources& sources) {
  std::string out = Chart(finding, finding.timeline, indent, style, sources).draw();
  for (const Timeline& more : finding.more_lanes)
    out += "\n" + Chart(finding, more, indent, style, sources).draw();
  return out;
}

} // namespace assay::report
