// The fewest preemptions with which a run still shows what a trace shows.
#pragma once

#include "explore/explore.hpp"

#include <functional>

namespace assay::explore {

struct Minimized {
  schedule::Trace trace;          // replays strictly, like any other
  uint64_t before = 0, after = 0; // preemptions and held accesses
  uint64_t runs = 0;
  bool complete = true; // nothing more can be taken out; false: the budget of runs was spent
};

// `still` looks at a run: does it show the same? An error when the trace itself does not.
Result<Minimized> minimize(const vgpu::JobSpec& job, const schedule::Trace& trace,
                           const std::function<bool(const vgpu::Outcome&)>& still,
                           const Options& options);

} // namespace assay::explore
