// Findings that somebody has looked at and decided to live with, each with its reason: a TOML file
// of
// [[suppress]] tables.
//
//   [[suppress]]
//   kind = "race"                 # as in error[race]
//   function = "count_*"          # * stands for any characters
//   file = "histogram.cu"         # the end of the path
//   line = 14                     # one of the places of the finding
//   reason = "an estimate is enough here; issue 214"
#pragma once

#include "base/result.hpp"

#include <string>
#include <vector>

namespace assay::cases {

struct Suppression {
  std::string kind, reason;
  std::string function, file, space, fingerprint; // empty: any
  uint32_t line = 0;                              // 0: any
  Span span;
};

Result<std::vector<Suppression>> read_suppressions(const std::string& path);

// Does the name fit the pattern, in which * stands for any characters?
bool fits(std::string_view pattern, std::string_view name);

} // namespace assay::cases
