// Does the outcome follow what lay in memory that nobody had written? Decided by running again with
// other fills.
#pragma once

#include "explore/plan.hpp"

namespace assay::explore {

// A read of bytes that nobody has written, and what its bytes do.
struct UnwrittenRead {
  vgpu::Event read;
  bool matters = false;              // other bytes leave another outcome, or another path to it
  std::vector<Difference> differing; // between two such runs
  schedule::Trace other;             // of the second
};

// Of `reads`, those of the canonical run. First memory as a whole holds other bytes. Where that
// makes a difference, each read finds them alone: debuggers' code copies padding everywhere, and
// only the one read that hands on something counts. `runs` grows by those made.
std::vector<UnwrittenRead> settle_unwritten(const vgpu::JobSpec& job,
                                            const std::vector<vgpu::Event>& reads,
                                            const Options& options, uint64_t& runs);

} // namespace assay::explore
