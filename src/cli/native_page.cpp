// What was found in a CUDA process, as one page that needs nothing else (run --html).
#include "cli/native.hpp"
#include "report/html.hpp"

#include <fmt/format.h>

namespace assay::cli {
namespace {

using report::escape;

std::string extents(const native::Launch& launch) {
  std::string out = native::text_of(launch.grid) + " × " + native::text_of(launch.block);
  if (launch.cluster.count() > 1) out += ", clusters of " + native::text_of(launch.cluster);
  return out;
}

std::string item(const char* what, const std::string& text) {
  return fmt::format("<li>{}<code>{}</code></li>\n", what, escape(text));
}

// Below a launch: where it differed, the likely causes, notes, counts and the split of the time.
std::string details(const native::KernelReport& r) {
  std::string out = "<ul>\n";
  if (!r.place.empty()) out += item("first difference: ", r.place);
  for (const std::string& pair : r.pairs) out += item("conflict: ", pair);
  for (const std::string& note : r.notes) out += item("note: ", note);
  out += item("symbol: ", r.launch.symbol);
  out += "</ul>\n<table>\n";
  for (const auto& [name, value] : r.figures)
    out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escape(name), escape(value));
  return out + "</table>\n";
}

} // namespace

std::string native_page(const native::Started& started, const std::vector<std::string>& remarks,
                        const std::string& command) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>assay run</title>\n"
      "<style>\n{}</style>\n</head>\n<body>\n<h1>assay "
      "run</h1>\n<p><code>{}</code></p>\n<p>{}</p>\n",
      report::page_style(), escape(command), escape(native::closing_line(started.reports)));
  for (const std::string& remark : remarks)
    out += fmt::format("<p class=\"soft\">{}</p>\n", escape(remark));
  out += "<table>\n<tr><th>kernel</th><th>grid × block</th><th>verdict</th><th>ms</th>"
         "<th>why</th></tr>\n";
  for (size_t i = 0; i < started.reports.size(); ++i) {
    const native::KernelReport& r = started.reports[i];
    out += fmt::format("<tr><td><a href=\"#launch-{}\">{}</a></td><td>{}</td>"
                       "<td class=\"{}\">{}</td><td>{:.1f}</td><td>{}</td></tr>\n",
                       i + 1, escape(r.launch.name), escape(extents(r.launch)),
                       native::verdict_name(r.verdict), native::verdict_name(r.verdict),
                       r.milliseconds, escape((r.kind.empty() ? "" : r.kind + ": ") + r.reason));
  }
  out += "</table>\n";
  for (size_t i = 0; i < started.reports.size(); ++i) {
    const native::KernelReport& r = started.reports[i];
    out += fmt::format("<section id=\"launch-{}\">\n<h2>{}</h2>\n<p class=\"{}\">{}: {}</p>\n{}"
                       "</section>\n",
                       i + 1, escape(r.launch.name), native::verdict_name(r.verdict),
                       native::verdict_name(r.verdict), escape(r.reason), details(r));
  }
  return out + "</body>\n</html>\n";
}

} // namespace assay::cli
