// A verdict against what the case's author expects of it; see judge.hpp and docs/cases.md,
// section 3.
#include "cli/judge.hpp"

#include <algorithm>

namespace assay::cli {
namespace {

cases::FindingKey key_of(const std::string& kind, const std::string& space,
                         const std::vector<report::Location>& locations, bool in_ptx) {
  cases::FindingKey key;
  key.kind = kind;
  key.space = space;
  for (const report::Location& location : locations)
    if (uint32_t line = in_ptx ? location.ptx_line : location.line) key.lines.push_back(line);
  std::sort(key.lines.begin(), key.lines.end());
  key.lines.erase(std::unique(key.lines.begin(), key.lines.end()), key.lines.end());
  return key;
}

} // namespace

bool meets_expectation(const cases::Prepared& prepared, report::Verdict& verdict) {
  cases::Expectation expected = prepared.expectation;
  if (!expected.present) expected.verdict = "pass";
  cases::Observed seen;
  seen.verdict = verdict.verdict;
  seen.proved = verdict.coverage.proved;
  for (const report::Finding& finding : verdict.findings) {
    seen.findings.push_back(
        key_of(finding.kind, finding.space, finding.locations, expected.in_ptx));
    seen.findings.back().detail = finding.message;
  }
  for (const report::Note& note : verdict.notes)
    seen.notes.push_back(key_of(note.kind, note.space, note.locations, expected.in_ptx));
  verdict.expectation_differences = compare(expected, seen);
  if (verdict.verdict == "unknown" && !verdict.expectation_differences.empty())
    verdict.expectation_differences.push_back(verdict.reason);
  verdict.expectation = verdict.expectation_differences.empty() ? "met" : "unmet";
  return verdict.expectation_differences.empty();
}

} // namespace assay::cli
