// What the blocks of two conflicting accesses did that orders memory: barriers, fences, strong
// accesses, copies and their waits, written down while a trace is replayed. Only operations that
// matter for that are looked at (they go through the handler of armed operations), so that ordinary
// runs pay nothing. docs/concurrency.md, section 1, lists what orders.
#pragma once

#include "ir/program.hpp"
#include "race/access.hpp"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace assay::vgpu {

struct Machine;
struct Warp;

struct WatchedStep {
  uint64_t when = 0; // place in the execution
  uint32_t pc = 0;
  race::Agent agent;    // a warp; copies: that of lane 0
  uint32_t lanes = 0;   // that took part
  uint32_t barrier = 0; // arrivals: one more than its number
  uint32_t phase = 0;   // of a barrier: steps of one phase have one number; 0: it did not complete
  uint32_t copy = 0;    // cp.async and its performance: which copy of the block
  uint8_t access = 0;   // bits: 1 the first of the two accesses, 2 the second
  uint32_t times = 1;   // in a row
  bool waits = false;   // comes back after it has waited: that is no second time
  static constexpr int64_t kNothing = INT64_MIN;
  // Of mbarriers. Arrivals: the phase of the object; waits: the last phase that was complete when
  // they were told "yes" (−1: the one before the first), kNothing while they are not.
  int64_t told = kNothing;
  // Lane and address, of strong accesses; of mbarriers the offset in shared memory.
  std::vector<std::pair<uint32_t, uint64_t>> addresses;
  std::vector<std::pair<uint32_t, uint32_t>> masks; // bar.warp.sync: lane and mask
};

class Watch {
public:
  Watch(uint32_t launch, const race::Conflict& conflict) : launch_(launch), conflict_(conflict) {}

  uint32_t launch() const { return launch_; }
  const race::Conflict& conflict() const { return conflict_; }
  bool watches(const ir::Program& program, uint32_t pc) const;
  bool in_sight(uint32_t cta) const {
    return cta == conflict_.first.agent.cta || cta == conflict_.second.agent.cta;
  }

  void begin(); // a run starts, or starts again
  void step(WatchedStep step);
  // A phase is complete: lanes[w] of warp w arrived.
  void barrier(uint32_t cta, uint32_t number, const std::vector<uint32_t>& lanes);
  void copied(uint32_t cta, uint32_t copy, uint32_t pc, uint32_t lanes);

  const std::deque<WatchedStep>& steps() const { return steps_; }
  // Set once both accesses and what follows them have been seen: the run may end.
  const volatile bool* enough() const { return &enough_; }

private:
  static constexpr size_t kMostBefore = 20000, kMost = 60000, kAfter = 2000;

  uint32_t launch_;
  race::Conflict conflict_;
  std::deque<WatchedStep> steps_;
  uint64_t now_ = 0, since_ = 0; // since_: steps since both accesses were seen
  uint32_t phases_ = 0;
  uint8_t seen_ = 0;
  volatile bool enough_ = false;
};

// A warp of `m` is about to execute a watched operation.
void watch(Watch& watch, Machine& m, Warp& w, uint32_t pc, const ir::Op& op, char* regs);

} // namespace assay::vgpu
