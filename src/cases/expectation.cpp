// Parsing and comparing expectations; see expectation.hpp.
#include "cases/expectation.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace assay::cases {
namespace {

bool listed(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool same(const FindingKey& expected, const FindingKey& seen) {
  return expected.kind == seen.kind && (expected.space.empty() || expected.space == seen.space) &&
         (expected.lines.empty() || expected.lines == seen.lines);
}

// Some notes are about a whole run and have no place.
bool same_note(const FindingKey& expected, const FindingKey& seen) {
  return seen.lines.empty() ? expected.kind == seen.kind : same(expected, seen);
}

} // namespace

const std::vector<std::string>& finding_kinds() {
  static const std::vector<std::string> kinds = {"race",
                                                 "race-without-consequence",
                                                 "nondeterministic",
                                                 "deadlock",
                                                 "barrier-divergence",
                                                 "hang",
                                                 "out-of-bounds",
                                                 "misaligned",
                                                 "uninitialised-read",
                                                 "unwritten-output",
                                                 "invalid-lane-mask",
                                                 "empty-kernel",
                                                 "trap",
                                                 "assert",
                                                 "unspecified-value",
                                                 "illegal-operation",
                                                 "input-modified",
                                                 "wrong-value"};
  return kinds;
}

const std::vector<std::string>& note_kinds() {
  static const std::vector<std::string> kinds = {"value-race",
                                                 "order-conflict",
                                                 "relies-on-residency",
                                                 "relies-on-cta-order",
                                                 "relies-on-vector-atomicity",
                                                 "released-by-exit",
                                                 "uninitialised-padding",
                                                 "unspecified-unused",
                                                 "time-unused",
                                                 "foreign-local-address",
                                                 "unwritten-output",
                                                 "input-modified",
                                                 "fp-atomic-order",
                                                 "empty-kernel"};
  return kinds;
}

std::string FindingKey::text() const {
  std::string out = kind;
  if (!space.empty()) out += " " + space;
  if (lines.size() == 1) out += fmt::format(" at line {}", lines[0]);
  if (lines.size() > 1) out += fmt::format(" at lines {}", fmt::join(lines, " and "));
  return detail.empty() ? out : out + ": " + detail;
}

std::vector<std::string> compare(const Expectation& expected, const Observed& observed) {
  std::vector<std::string> differences;
  std::string verdict = expected.verdict.empty() ? "pass" : expected.verdict; // notes alone: a pass
  if (verdict != observed.verdict)
    differences.push_back(fmt::format("expected verdict {}, got {}", verdict, observed.verdict));
  if (expected.proved && !observed.proved)
    differences.push_back("expected a pass that is proved for this input, and it is not proved");
  if (expected.unproved && observed.proved)
    differences.push_back("proved for this input, where nothing should be");
  std::vector<bool> used(observed.findings.size());
  for (const FindingKey& want : expected.findings) {
    bool found = false;
    for (size_t i = 0; i < observed.findings.size(); ++i) {
      if (!same(want, observed.findings[i])) continue;
      used[i] = found = true;
    }
    if (!found) differences.push_back("expected and not found: " + want.text());
  }
  for (size_t i = 0; i < used.size(); ++i)
    if (!used[i]) differences.push_back("found and not expected: " + observed.findings[i].text());
  for (const FindingKey& want : expected.notes) {
    bool found = std::any_of(observed.notes.begin(), observed.notes.end(),
                             [&](const FindingKey& seen) { return same_note(want, seen); });
    if (!found) differences.push_back("expected and not found: the note " + want.text());
  }
  return differences;
}

Result<void> parse_expectation(const std::string& text,
                               const std::map<std::string, uint32_t>& marks, const Span& span,
                               Expectation& out) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  out.present = true;
  if (word == "pass" || word == "unknown" || word == "fail") {
    out.verdict = word;
    while (words >> word) {
      if ((word != "proved" && word != "unproved") || out.verdict != "pass")
        return usage_error(
            fmt::format("'{}' cannot follow '{}' in an expectation", word, out.verdict), span);
      (word == "proved" ? out.proved : out.unproved) = true;
    }
    return {};
  }
  bool finding = listed(finding_kinds(), word), note = listed(note_kinds(), word);
  if (!finding && !note) {
    std::vector<std::string> known = finding_kinds();
    known.insert(known.end(), note_kinds().begin(), note_kinds().end());
    known.insert(known.end(), {"pass", "fail", "unknown"});
    return usage_error(fmt::format("'{}' is no kind of finding{}", word, did_you_mean(word, known)),
                       span);
  }
  FindingKey key;
  key.kind = word;
  bool as_note = !finding;
  while (words >> word) {
    if (word == "shared" || word == "global" || word == "local") {
      key.space = word;
    } else if (word == "note" && note) { // kinds that can be either
      as_note = true;
    } else if (word[0] == '@') {
      auto mark = marks.find(word.substr(1));
      if (mark == marks.end())
        return usage_error(fmt::format("no line of this file is marked '// {}'", word), span);
      key.lines.push_back(mark->second);
    } else {
      return usage_error(fmt::format("'{}' is neither a memory space nor a mark", word), span);
    }
  }
  std::sort(key.lines.begin(), key.lines.end());
  key.lines.erase(std::unique(key.lines.begin(), key.lines.end()), key.lines.end());
  if (!as_note) out.verdict = "fail";
  (as_note ? out.notes : out.findings).push_back(key);
  return {};
}

} // namespace assay::cases
