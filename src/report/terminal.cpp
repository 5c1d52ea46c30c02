// Diagnostics for people; see terminal.hpp. First finding first: later ones are often consequences.
#include "report/terminal.hpp"

#include "base/text.hpp"
#include "report/paint.hpp"
#include "report/sources.hpp"
#include "report/timeline.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <span>
#include <tuple>

namespace assay::report {
namespace {

constexpr size_t kMostOfLine = 1000; // bytes of what users wrote, or messages could have any length

class Printer {
public:
  explicit Printer(const Style& style) : style_(style) {}

  void finding(const Finding& finding) {
    if (!finding.suppressed.empty()) return suppressed(finding);
    bool error = finding.severity == Severity::error;
    out_ += paint(fmt::format("{}[{}]", error ? "error" : "warning", finding.kind),
                  error ? Paint::error : Paint::warning, style_);
    out_ += paint(": " + finding.message, Paint::strong, style_) + "\n";
    excerpts(finding.locations);
    // What shares a line with a finding before it is most likely the same fault seen elsewhere.
    const bool again = seen_before(finding) && !style_.verbose;
    const std::string chart = again ? "" : print_timeline(finding, gutter_ + 1, style_, sources_);
    if (again && !finding.timeline.steps.empty())
      line("timeline", "--verbose shows it; most likely the same fault as above");
    if (!chart.empty()) {
      line("timeline", finding.timeline.stuck ? "what the threads did last, time goes down"
                                              : "the two threads as they ran, time goes down");
      out_ += chart;
    }
    bool said = finding.message.find(finding.missing_edge) != std::string::npos;
    if (!said) line("note", "missing edge: " + finding.missing_edge);
    for (const std::string& detail : finding.details) line("note", detail);
    bool told = !chart.empty() && finding.timeline.both_orders && !finding.differing.empty();
    for (const Differing& d : std::span(finding.differing).subspan(told ? 1 : 0))
      line("note", fmt::format("{} at byte {}: {} or {}", d.buffer, d.offset, d.a, d.b));
    if (!finding.help.empty()) line("help", finding.help);
    if (!finding.replay.empty()) line("replay", finding.replay);
    if (!finding.replay_other.empty()) line("replay", finding.replay_other);
    out_ += "\n";
  }

  // Its line, its places and why it does not count; more with --verbose.
  void suppressed(const Finding& finding) {
    out_ += paint(fmt::format("suppressed[{}]", finding.kind), Paint::note, style_) + ": " +
            finding.message + "\n";
    gutter_ = 1;
    if (style_.verbose) excerpts(finding.locations);
    line("reason", finding.suppressed);
    out_ += "\n";
  }

  void note(const Note& note) {
    out_ +=
        paint(fmt::format("note[{}]", note.kind), Paint::note, style_) + ": " + note.message + "\n";
    if (style_.verbose) excerpts(note.locations);
  }

  void text(const std::string& text) { out_ += text; }
  std::string take() { return std::move(out_); }

private:
  void line(const char* what, const std::string& text) {
    out_ += fmt::format("{} {} {}: {}\n", std::string(gutter_, ' '),
                        paint("=", Paint::frame, style_), paint(what, Paint::strong, style_), text);
  }

  bool seen_before(const Finding& finding) {
    bool seen = false;
    for (const Location& at : finding.locations) seen |= lines_.count({at.file, at.line}) > 0;
    for (const Location& at : finding.locations) lines_.insert({at.file, at.line});
    return seen;
  }

  void excerpts(const std::vector<Location>& locations) {
    gutter_ = 1;
    for (const Location& location : locations)
      gutter_ = std::max(gutter_, fmt::format("{}", location.line).size());
    const Location* previous = nullptr;
    size_t shown = 0;
    // A deadlock has as many places as warps, and most of them are alike.
    std::set<std::tuple<std::string, uint32_t, std::string>> told;
    size_t alike = 0;
    for (const Location& location : locations) {
      if (locations.size() > 2 &&
          !told.insert({location.file, location.line, location.operation}).second) {
        ++alike;
        continue;
      }
      if (++shown > 8) {
        line("note", fmt::format("and {} further places", locations.size() - 8 - alike));
        break;
      }
      excerpt(location, previous);
      previous = &location;
    }
    if (alike)
      line("note", fmt::format("{} more thread{} like {}", alike, alike == 1 ? " is" : "s are",
                               shown == 1 ? "it" : "these"));
  }

  void excerpt(const Location& location, const Location* previous) {
    std::string pad(gutter_, ' '), bar = paint("|", Paint::frame, style_);
    bool same_file = previous && previous->file == location.file;
    if (!location.file.empty() && !(same_file && previous->line == location.line)) {
      std::string place = location.file;
      if (location.line) place += fmt::format(":{}", location.line);
      out_ += fmt::format("{}{} {}\n", pad, paint(previous ? ":::" : "-->", Paint::frame, style_),
                          place);
    }
    std::string label = describe(location), source = sources_.line(location);
    if (source.empty()) {
      line("note", label.empty() ? "here" : label);
      return;
    }
    size_t first = source.find_first_not_of(' '), last = code_end(source);
    std::string marks(first == std::string::npos ? 0 : first, ' ');
    marks += std::string(std::max<size_t>(last > marks.size() ? last - marks.size() : 1, 1), '^');
    if (!(same_file && previous->line == location.line)) {
      out_ += fmt::format("{} {}\n", pad, bar);
      out_ += fmt::format(
          "{} {} {}\n", paint(fmt::format("{:>{}}", location.line, gutter_), Paint::frame, style_),
          bar, source);
    }
    out_ += fmt::format("{} {} {}\n", pad, bar,
                        paint(marks + " " + label, previous ? Paint::frame : Paint::error, style_));
  }

  const Style& style_;
  std::string out_;
  size_t gutter_ = 1;
  Sources sources_;
  std::set<std::pair<std::string, uint32_t>> lines_; // of the findings so far
};

std::string count(size_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string summary(const Verdict& verdict) {
  std::vector<std::string> parts;
  if (verdict.verdict == "fail") {
    size_t errors = 0, warnings = 0;
    std::vector<std::string> kinds;
    for (const Finding& finding : verdict.findings) {
      if (!finding.suppressed.empty()) continue;
      errors += finding.severity == Severity::error;
      warnings += finding.severity != Severity::error;
      if (std::find(kinds.begin(), kinds.end(), finding.kind) == kinds.end())
        kinds.push_back(finding.kind);
    }
    parts.push_back(fmt::format("{}{} ({})", count(errors, "error"),
                                warnings ? ", " + count(warnings, "warning") : "",
                                join(kinds, ", ")));
  } else if (!verdict.reason.empty()) {
    parts.push_back(printable(verdict.reason, kMostOfLine));
  }
  auto silent = size_t(std::count_if(verdict.findings.begin(), verdict.findings.end(),
                                     [](const Finding& f) { return !f.suppressed.empty(); }));
  if (silent) parts.push_back(count(silent, "finding") + " suppressed");
  if (verdict.deterministic && verdict.race_free) {
    bool d = *verdict.deterministic, r = *verdict.race_free;
    if (verdict.verdict == "pass" && verdict.coverage.proved)
      parts.push_back("proved for this input");
    else if (d && verdict.verdict == "pass" && verdict.coverage.schedules > 1)
      parts.push_back(fmt::format("no difference in {} schedules", verdict.coverage.schedules));
    parts.push_back(fmt::format("{}, {}", d ? "deterministic" : "not deterministic",
                                r ? "race-free" : "not race-free"));
  } else if (verdict.race_free) {
    parts.push_back(*verdict.race_free ? "race-free" : "not race-free");
  }
  if (verdict.coverage.has_reference && !verdict.coverage.values_compared)
    parts.push_back("values were not compared");
  return join(parts, "; ");
}

} // namespace

std::string verdict_line(const Verdict& verdict, const Style& style) {
  Paint color = passes(verdict)             ? Paint::good
                : verdict.verdict == "fail" ? Paint::error
                                            : Paint::warning;
  std::string text = summary(verdict);
  std::string line = paint(verdict.verdict, color, style);
  if (!text.empty()) line += ": " + text;
  line +=
      fmt::format(" [{}, seed {}]", count(verdict.coverage.schedules, "schedule"), verdict.seed);
  return line + "\n";
}

std::string print_terminal(const Verdict& verdict, const Style& style) {
  if (style.quiet) return verdict_line(verdict, style);
  Printer printer(style);
  size_t limit = style.print_limit ? style.print_limit : verdict.findings.size(), shown = 0;
  for (const Finding& finding : verdict.findings) {
    if (shown == limit) {
      printer.text(fmt::format("… {} (--print-limit 0 shows all)\n\n",
                               count(verdict.findings.size() - limit, "further finding")));
      break;
    }
    printer.finding(finding);
    ++shown;
  }
  for (const Note& note : verdict.notes) printer.note(note);
  if (!verdict.notes.empty()) printer.text("\n");
  bool explain = style.verbose && !verdict.coverage.proved;
  for (const std::string& why : verdict.coverage.not_proved)
    if (explain) printer.text("not proved for this input: " + why + "\n");
  for (const std::string& what : verdict.coverage.not_reached)
    printer.text("not reached within the budget: " + what + "\n");
  for (const std::string& remark : verdict.remarks) printer.text(remark + "\n");
  for (const std::string& hint : verdict.hints) printer.text("hint: " + hint + "\n");
  for (const std::string& difference : verdict.expectation_differences)
    printer.text("expectation: " + difference + "\n");
  return printer.take() + verdict_line(verdict, style);
}

std::string print_row(const Row& row, const Style& style) {
  switch (row.state) {
  case Row::State::passed:
    return fmt::format("{}   {}  {}\n", paint("passed", Paint::good, style), row.subject, row.text);
  case Row::State::failed:
    return fmt::format("{}   {}  {}\n", paint("failed", Paint::error, style), row.subject,
                       row.text);
  case Row::State::unknown:
    return fmt::format("{}  {}  {}\n", paint("unknown", Paint::warning, style), row.subject,
                       row.text);
  case Row::State::skipped:
    return fmt::format("{}  {}  {}\n", paint("skipped", Paint::note, style), row.subject, row.text);
  case Row::State::broken:
    return fmt::format("{}   {}  {}\n", paint("broken", Paint::error, style), row.subject,
                       row.text);
  }
  return "";
}

std::string closing_line(const std::vector<Row>& rows) {
  size_t passed = 0, skipped = 0, unknown = 0;
  for (const Row& row : rows) {
    passed += row.state == Row::State::passed;
    skipped += row.state == Row::State::skipped;
    unknown += row.state == Row::State::unknown;
  }
  std::string out;
  if (unknown) out = fmt::format("{} of the failed are unknown\n", unknown);
  return out + fmt::format("{} passed, {} failed, {} skipped\n", passed,
                           rows.size() - passed - skipped, skipped);
}

std::string print_error(const std::string& text, const Style& style) {
  return paint("error", Paint::error, style) + ": " + printable(text, kMostOfLine) + "\n";
}

} // namespace assay::report
