// Reports to files; see publish.hpp.
#include "cli/publish.hpp"

#include "base/file.hpp"
#include "report/html.hpp"
#include "report/junit.hpp"
#include "report/sarif.hpp"
#include "report/svg.hpp"

#include <filesystem>
#include <fmt/format.h>

namespace assay::cli {
namespace {

// The timeline of the first finding goes to the file, those of others to FILE-2.svg and so on.
Result<void> timelines(const std::string& path, const report::Document& document) {
  report::Sources sources;
  size_t n = 0;
  for (const report::CaseResult& one : document.cases)
    for (const report::Verdict& verdict : one.verdicts)
      for (const report::Finding& finding : verdict.findings) {
        std::string picture = report::print_svg(finding, sources);
        if (picture.empty()) continue;
        std::filesystem::path file(path);
        if (++n > 1)
          file.replace_filename(
              fmt::format("{}-{}{}", file.stem().string(), n, file.extension().string()));
        if (Result<void> done = write_file(file.string(), picture); !done) return done;
      }
  if (n == 0) std::fputs("note: no finding has a timeline; no picture was written\n", stderr);
  return {};
}

} // namespace

Result<void> publish(const Session& session, report::Document document) {
  document.version = session.version;
  const std::pair<const std::string&, std::string (*)(const report::Document&)> formats[] = {
      {session.html, report::print_html},
      {session.sarif, report::print_sarif},
      {session.junit, report::print_junit}};
  for (const auto& [path, print_format] : formats)
    if (!path.empty())
      if (Result<void> done = write_file(path, print_format(document)); !done) return done;
  return session.svg.empty() ? Result<void>{} : timelines(session.svg, document);
}

Result<void> close_report(const Session& session, const Acceptance& acceptance,
                          const std::string& command, const std::string& target,
                          std::vector<report::Verdict>& verdicts) {
  std::vector<std::string> remarks = acceptance.remarks();
  if (Result<void> done = acceptance.write(remarks); !done) return done;
  if (!verdicts.empty()) verdicts.back().remarks = remarks;
  return publish(session, {command, "", {{row_of(target, verdicts, false), verdicts}}});
}

int fail_report(const Error& error, const Session& session, const std::string& command,
                const std::string& target, const std::vector<report::Verdict>& verdicts) {
  progress("");
  if (Result<void> done = publish(session, {command, "", {{row_of(target, error), verdicts}}});
      !done)
    return fail(done.error(), session, target);
  return fail(error, session, target);
}

report::Row row_of(const std::string& target, const Error& error) {
  using State = report::Row::State;
  return {target,
          error.code == ErrorCode::environment   ? State::skipped
          : error.code == ErrorCode::unsupported ? State::unknown
                                                 : State::broken,
          error.text()};
}

report::Row row_of(const std::string& target, const std::vector<report::Verdict>& verdicts,
                   bool verify) {
  using State = report::Row::State;
  report::Row row{target, State::passed, ""};
  report::Style plain;
  for (const report::Verdict& verdict : verdicts) {
    std::string line = report::verdict_line(verdict, plain);
    line.pop_back();
    bool bad = verify ? verdict.expectation == "unmet" : !report::passes(verdict);
    if (row.text.empty() || (bad && row.state == State::passed)) row.text = line;
    if (!bad) continue;
    row.state = verdict.verdict == "unknown" ? State::unknown : State::failed;
    for (const std::string& difference : verdict.expectation_differences)
      row.text += "\n          " + difference;
  }
  return row;
}

} // namespace assay::cli
