// What two agents did around a pair of accesses that nothing orders, and what is missing between
// them: taken from a replay of the trace that showed the pair. The rules are those of
// docs/concurrency.md, section 1; what cannot be said for certain is left to missing_edge()
// (explore.hpp).
#pragma once

#include "explore/explore.hpp"

namespace assay::explore {

// One line of the race timeline.
struct HistoryStep {
  uint32_t pc = 0;
  race::Agent agent; // whose; a warp
  uint32_t lane = 0;
  uint8_t sides = 0;     // bits 1 and 2: in whose column; 3: both took part in this barrier
  uint8_t access = 0;    // bits: it is the first, the second of the two accesses
  uint32_t times = 1;    // in a row
  uint32_t left_out = 0; // steps of this column between the one before and this
  bool barrier = false;  // at which both sides met
  bool copy = false;     // performed by an asynchronous copy, not by the thread that asked for it
  bool helper = false;   // of another thread of the block, through which the two communicate
  bool at_fault = false; // what is missing is missing here
  uint64_t object = 0;   // of an mbarrier: its byte
  int64_t phase = 0;     // arrivals: of the object; waits: the phase they were told of
  bool answered = false; // waits: it was complete
};

enum class Missing : uint8_t {
  unsaid,              // missing_edge() says it
  wait,                // the copy is not waited for: at[0] the wait that is too weak, if any
  barrier_after_wait,  // it is, but only its own thread knows: at[0] the wait
  barrier_before_copy, // the copy may overwrite what is still read: at[0] the issue
  fence_before_flag,   // at[0] the flag's store
  fence_after_flag,    // at[0] the flag's load
  fence_behind_flag,   // at[0] the fence, at[1] the flag's store, before which it belongs
  fence_scope,         // at[0] a fence of too narrow a scope
  flag_scope,          // at[0] an access of the flag of too narrow a scope
  flag_early,          // at[0] the flag's store, which comes before the access
  barrier_before_flag, // at[0] the flag's store, by another thread than the access
  barrier_after_flag,  // at[0] the flag's load, by another thread than the access
  fence_sc,            // each stores and then looks for the other, or overtakes it: at[0] and at[1]
                       // a store and the access after it, at[2] and at[3] the other's, if that
                       // lacks the fence too
  mbarrier_wait,       // at[0] an arrival for which side `side` does not wait before its access
  mbarrier_phase,      // at[0] a wait that was told of an earlier phase
  mbarrier_early,      // at[0] an arrival of side `side` before its access
  warp_mask,           // at[n] a __syncwarp() whose mask leaves out the other lane
};

// What the location is for through which the two communicate.
enum class Signal : uint8_t { flag, lock, counter };

struct Diagnosis {
  Missing missing = Missing::unsaid;
  std::vector<uint32_t> at; // operations
  uint32_t groups = 0;      // wait: N of the wait_group that would do
  Signal signal = Signal::flag;
  int side = 0;           // flag_early, barrier_before_flag: whose access is too late
  bool by_others = false; // fence_sc: further threads are on the way between the two
  // Has the second thread read, before its access, what the first one's block wrote after its own,
  // or has it not been looked for?
  bool may_lead = true;
  bool within_warp = false;           // barrier_…_flag: the other thread is of the same warp
  std::vector<uint32_t> masks, lanes; // warp_mask: the mask at at[n], and whom it leaves out
};

struct History {
  bool known = false; // both accesses were seen again
  race::Agent agents[2];
  uint32_t lanes[2] = {0, 0}; // of a copy: the thread that asked for it
  std::vector<HistoryStep> steps;
  Diagnosis diagnosis;
};

// The pair by whose order a hang came about, where the run was made for one: a strong read misses a
// store, or a store takes effect late. As a finding of its own, with the same trace.
std::optional<Finding> cause_of(const vgpu::JobSpec& job, const Finding& finding);

// Replays the finding's first trace. Only of conflicts; `known` is false of others.
History history(const vgpu::JobSpec& job, const Finding& finding, const Options& options);

} // namespace assay::explore
