// What a case's author expects: `// expect: race shared @A @B` beside marks `// @A`, or the
// `expect` key of a case file. Expectations are compared (check --verify); they never change a
// verdict.
#pragma once

#include "base/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace assay::cases {

// A finding reduced to what decides whether two are the same.
struct FindingKey {
  std::string kind;            // "race"
  std::string space;           // "shared", "global", "local", empty: none or any
  std::vector<uint32_t> lines; // sorted, without repetition; empty: any
  std::string detail = {};     // for messages: what was found
  std::string text() const;    // "race shared at lines 12 and 15"
};

struct Expectation {
  bool present = false;
  std::string verdict;     // "pass", "fail", "unknown"
  bool proved = false;     // pass proved
  bool unproved = false;   // pass unproved: a proof would be wrong
  bool kinds_only = false; // of a case file: kinds without places
  bool in_ptx = false;     // the marks stand in the PTX: its lines count, not those of .loc
  std::vector<FindingKey> findings;
  std::vector<FindingKey> notes;
};

// Kinds that are findings and kinds that are notes, as cases.md §4 closes them.
const std::vector<std::string>& finding_kinds();
const std::vector<std::string>& note_kinds();

struct Observed {
  std::string verdict;
  bool proved = false;
  std::vector<FindingKey> findings, notes;
};

// Empty when the expectation is met, else what differs, a line each.
std::vector<std::string> compare(const Expectation& expected, const Observed& observed);

// One `// expect:` line; `marks` gives the line of each @NAME.
Result<void> parse_expectation(const std::string& text,
                               const std::map<std::string, uint32_t>& marks, const Span& span,
                               Expectation& out);

} // namespace assay::cases
