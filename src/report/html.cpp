// The report as a page; see html.hpp.
#include "report/html.hpp"

#include "report/kinds.hpp"
#include "report/sources.hpp"
#include "report/svg.hpp"
#include "report/terminal.hpp"

#include <fmt/format.h>

namespace assay::report {

namespace {

constexpr const char* kStyle =
    R"(:root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--paper:#fff;
--well:#f3f5f7;--edge:#d1d9e0;--bad:#c0182a;--good:#156f2c;--odd:#9a5b00}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9ba5af;--paper:#0d1117;--well:#161b22;
--edge:#3d444d;--bad:#ff7b72;--good:#56d364;--odd:#e3b341}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:64rem;
margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.25rem;border-bottom:1px solid var(--edge);margin-top:2.5rem}
h3{font-size:1.05rem;margin-top:2rem}
table{border-collapse:collapse}td,th{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top}
pre,code{font-family:ui-monospace,monospace;font-size:.85rem}
pre{background:var(--well);border:1px solid var(--edge);border-radius:6px;padding:.6rem;overflow-x:auto}
pre .hit{color:var(--bad);font-weight:600}
.fail,.error{color:var(--bad)}.pass{color:var(--good)}.unknown,.warning,.suppressed{color:var(--odd)}
.fix{border-left:4px solid var(--good);padding-left:.8rem}
svg{max-width:100%;height:auto;border:1px solid var(--edge);border-radius:6px}
.soft{color:var(--soft)}
)";

const char* tint(const Verdict& verdict) {
  return passes(verdict) ? "pass" : verdict.verdict == "fail" ? "fail" : "unknown";
}

class Page {
public:
  std::string make(const Document& document) {
    out_ = fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width\">\n"
                       "<title>assay {}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
                       "<h1>assay {}</h1>\n",
                       escape(document.command), kStyle, escape(document.command));
    if (document.cases.size() > 1) contents(document);
    for (const CaseResult& one : document.cases) result(one);
    out_ +=
        fmt::format("<p class=\"soft\">Assay {}</p>\n</body>\n</html>\n", escape(document.version));
    return std::move(out_);
  }

private:
  void contents(const Document& document) {
    std::vector<Row> rows;
    out_ += "<table>\n<tr><th>case</th><th>verdict</th></tr>\n";
    for (size_t i = 0; i < document.cases.size(); ++i) {
      const Row& row = document.cases[i].row;
      rows.push_back(row);
      const char* style = row.state == Row::State::passed   ? "pass"
                          : row.state == Row::State::failed ? "fail"
                                                            : "unknown";
      out_ += fmt::format("<tr><td><a href=\"#case-{}\">{}</a></td><td class=\"{}\">{}</td></tr>\n",
                          i + 1, escape(row.subject), style, escape(row.text));
    }
    out_ += fmt::format("</table>\n<p>{}</p>\n", escape(closing_line(rows)));
  }

  void result(const CaseResult& one) {
    ++case_;
    out_ += fmt::format("<section id=\"case-{}\">\n", case_);
    if (one.verdicts.empty())
      out_ += fmt::format("<h2>{}</h2>\n<p class=\"unknown\">{}</p>\n", escape(one.row.subject),
                          escape(one.row.text));
    for (const Verdict& verdict : one.verdicts) show(verdict);
    out_ += "</section>\n";
  }

  void show(const Verdict& verdict) {
    Style plain;
    out_ +=
        fmt::format("<h2>{}</h2>\n<p class=\"{}\"><strong>{}</strong></p>\n",
                    escape(verdict.subject), tint(verdict), escape(verdict_line(verdict, plain)));
    for (const Finding& finding : verdict.findings) show(finding);
    if (!verdict.notes.empty()) {
      out_ += "<h3>Notes, which decide nothing</h3>\n<ul>\n";
      for (const Note& note : verdict.notes)
        out_ +=
            fmt::format("<li><code>{}</code> {}</li>\n", escape(note.kind), escape(note.message));
      out_ += "</ul>\n";
    }
    coverage(verdict);
    list("Suppressions and baseline", verdict.remarks);
  }

  void list(const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    out_ += fmt::format("<h3>{}</h3>\n<ul>\n", title);
    for (const std::string& line : lines) out_ += fmt::format("<li>{}</li>\n", escape(line));
    out_ += "</ul>\n";
  }

  void coverage(const Verdict& verdict) {
    const Coverage& c = verdict.coverage;
    out_ += "<h3>Coverage</h3>\n<table>\n";
    auto row = [&](const char* what, const std::string& text) {
      out_ += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", what, escape(text));
    };
    row("kernel", verdict.kernel);
    row("schedules run", fmt::format("{} (seed {})", c.schedules, verdict.seed));
    row("proved for this input", c.proved ? "yes" : "no");
    for (const std::string& why : c.not_proved) row("not proved because", why);
    for (const std::string& what : c.not_reached) row("not reached", what);
    row("values compared", c.values_compared ? "yes" : "no");
    out_ += "</table>\n";
  }

  void show(const Finding& finding) {
    const bool error = finding.severity == Severity::error;
    const bool counts = finding.suppressed.empty();
    ++finding_;
    out_ += fmt::format("<article id=\"finding-{}\">\n<h3 class=\"{}\">{}{}[{}]</h3>\n<p>{}</p>\n",
                        finding_, counts ? (error ? "error" : "warning") : "suppressed",
                        counts ? "" : "suppressed ", error ? "error" : "warning",
                        escape(finding.kind), escape(finding.message));
    if (!counts)
      out_ +=
          fmt::format("<p class=\"suppressed\">Suppressed: {}</p>\n", escape(finding.suppressed));
    if (!finding.help.empty())
      out_ += fmt::format("<p class=\"fix\"><strong>Fix:</strong> {}</p>\n", escape(finding.help));
    excerpts(finding);
    out_ += print_svg(finding, sources_, fmt::format("timeline-{}", finding_), true);
    differing(finding);
    if (!finding.details.empty()) {
      out_ += "<ul>\n";
      for (const std::string& d : finding.details) out_ += fmt::format("<li>{}</li>\n", escape(d));
      out_ += "</ul>\n";
    }
    for (const std::string* command : {&finding.replay, &finding.replay_other})
      if (!command->empty()) out_ += fmt::format("<pre>{}</pre>\n", escape(*command));
    if (const Kind* kind = find_kind(finding.kind))
      out_ += fmt::format("<details><summary>What <code>{}</code> means</summary><p>{}</p><p>{}</p>"
                          "</details>\n",
                          escape(finding.kind), escape(kind->meaning), escape(kind->fix));
    out_ += "</article>\n";
  }

  // Each place with the lines around it.
  void excerpts(const Finding& finding) {
    size_t shown = 0;
    for (const Location& at : finding.locations) {
      if (++shown > 8) {
        out_ += fmt::format("<p>and {} further places</p>\n", finding.locations.size() - 8);
        return;
      }
      std::string place = at.file;
      if (at.line) place += fmt::format(":{}", at.line);
      out_ += fmt::format("<p><code>{}</code> {}</p>\n", escape(place), escape(describe(at)));
      std::string lines;
      for (uint32_t n = at.line > 3 ? at.line - 3 : 1; at.line && n <= at.line + 2; ++n) {
        Location near = at;
        near.line = n;
        std::string text = sources_.line(near);
        if (n == at.line && text.empty()) break;
        std::string row = fmt::format("{:>5}  {}", n, escape(text));
        lines += n == at.line ? fmt::format("<span class=\"hit\">{}</span>\n", row) : row + "\n";
      }
      if (!lines.empty()) out_ += "<pre>" + lines + "</pre>\n";
    }
  }

  void differing(const Finding& finding) {
    if (finding.differing.empty()) return;
    const bool wanted = finding.kind == "wrong-value";
    out_ += fmt::format("<table>\n<tr><th>buffer</th><th>byte</th><th>{}</th><th>{}</th></tr>\n",
                        wanted ? "is" : "one order", wanted ? "wanted" : "the other");
    for (const Differing& d : finding.differing)
      out_ += fmt::format("<tr><td>{}</td><td>{}</td><td><code>{}</code></td><td><code>{}</code>"
                          "</td></tr>\n",
                          escape(d.buffer), d.offset, escape(d.a), escape(d.b));
    out_ += "</table>\n";
  }

  std::string out_;
  Sources sources_;
  size_t case_ = 0, finding_ = 0;
};

} // namespace

const char* page_style() { return kStyle; }

std::string print_html(const Document& document) { return Page().make(document); }

} // namespace assay::report
