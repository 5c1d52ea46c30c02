// JUnit XML; see junit.hpp. The layout is that of Ant's junitreport, which readers agree on:
// testsuites, testsuite, testcase with failure, error or skipped. No times: the same run gives the
// same bytes.
#include "report/junit.hpp"

#include "report/terminal.hpp"

#include <fmt/format.h>

namespace assay::report {

namespace {

bool suppressed(const Verdict& verdict) {
  for (const Finding& finding : verdict.findings)
    if (!finding.suppressed.empty()) return true;
  return false;
}

std::string body(const CaseResult& one) {
  Style plain;
  plain.print_limit = 0;
  std::string out;
  for (const Verdict& verdict : one.verdicts) {
    if (one.verdicts.size() > 1) out += "== " + verdict.subject + "\n";
    out += print_terminal(verdict, plain);
  }
  return out.empty() ? one.row.text + "\n" : out;
}

std::string testcase(const CaseResult& one) {
  const Row& row = one.row;
  std::string first = row.text.substr(0, row.text.find('\n'));
  std::string open =
      fmt::format("    <testcase classname=\"assay\" name=\"{}\"", escape(row.subject));
  using S = Row::State;
  if (row.state == S::passed) {
    bool told = false;
    for (const Verdict& verdict : one.verdicts) told |= suppressed(verdict);
    if (!told) return open + "/>\n";
    return fmt::format("{}>\n      <system-out>{}</system-out>\n    </testcase>\n", open,
                       escape(body(one)));
  }
  if (row.state == S::skipped)
    return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", open,
                       escape(first));
  // What is unknown is no failure of the kernel, and no pass either.
  const char* tag = row.state == S::failed ? "failure" : "error";
  const char* type = row.state == S::failed    ? "fail"
                     : row.state == S::unknown ? "unknown"
                                               : "broken";
  return fmt::format("{0}>\n      <{1} type=\"{2}\" message=\"{3}\">{4}</{1}>\n    </testcase>\n",
                     open, tag, type, escape(first), escape(body(one)));
}

} // namespace

std::string print_junit(const Document& document) {
  size_t failures = 0, errors = 0, skipped = 0;
  std::string cases;
  for (const CaseResult& one : document.cases) {
    using S = Row::State;
    failures += one.row.state == S::failed;
    errors += one.row.state == S::unknown || one.row.state == S::broken;
    skipped += one.row.state == S::skipped;
    cases += testcase(one);
  }
  std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
                                   document.cases.size(), failures, errors, skipped);
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
                     "  <testsuite name=\"assay {1}\" {0}>\n{2}  </testsuite>\n</testsuites>\n",
                     counts, escape(document.command), cases);
}

} // namespace assay::report
