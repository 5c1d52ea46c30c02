// Words for a pair of accesses between which there is no way at all that could be completed: what
// would be one. Internal to edge.cpp.
#pragma once

#include "cli/edge.hpp"

namespace assay::cli {

struct Unordered {
  const cases::Case& subject;
  const explore::Finding& found;
  const report::Finding& out;
  race::Conflict conflict; // as if between those that are farthest apart
  std::string missing;     // of explore::missing_edge()
  bool same_block = false, same_warp = false;
  bool may_lead = true;     // explore::Diagnosis
  const char* barrier = ""; // of those that both belong to
};

Edge general_edge(const Unordered& pair);

} // namespace assay::cli
