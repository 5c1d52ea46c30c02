// What threads did last before they waited for ever, from a replay of the trace that shows it.
#pragma once

#include "explore/history.hpp"

namespace assay::explore {

struct StuckThread {
  race::Agent agent;
  uint32_t lane = 0;
  uint32_t pc = 0; // where it waits
};

struct LastSteps {
  std::vector<HistoryStep> steps; // `sides` has a bit for each of the threads
  std::vector<uint32_t> left_out; // steps of each thread before those
  // Who wrote last to what the thread polls, and whether anybody did.
  struct Writer {
    bool known = false; // what it polls was seen
    bool any = false;
    HistoryStep step;
  };
  std::vector<Writer> writers;
};

// Of up to eight threads of the finding's launch and of at most two blocks, as places name them; of
// others nothing is seen. The steps' agents count blocks through all launches that run at one time.
LastSteps last_steps(const vgpu::JobSpec& job, const Finding& finding,
                     std::vector<StuckThread> threads, const Options& options);

} // namespace assay::explore
