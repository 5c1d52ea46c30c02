// Directives in the comments (// or, in Python, #) of a source: how a one-file test runs and what
// is expected of it.
//   // launch: --entry k --grid 1 --block 32 --arg out:128
//   // want 0 u32: 0x3f800000 7*30 -1
//   // row: mul24.lo.s32
//   // expect: race shared @A @B          with // @A at the end of the marked lines
#pragma once

#include "cases/expectation.hpp"
#include "cases/options.hpp"

namespace assay::cases {

struct Directives {
  bool has_launch = false;
  Options options;
  std::vector<std::string> rows;
  Expectation expectation;
};

// `file` is the source's name in messages and the anchor of relative paths in `// launch:`.
Result<Directives> parse_directives(const std::string& text, const std::string& file);

// The line of each `// @NAME`.
std::map<std::string, uint32_t> marks_of_source(const std::string& text, const std::string& file);

// Whether a text has a `// launch:` line, so that a folder's tests can be told from its sources.
bool has_launch_line(const std::string& text);

} // namespace assay::cases
