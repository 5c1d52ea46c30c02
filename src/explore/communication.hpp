// What is missing between two accesses, concluded from what their blocks did; see history.hpp.
#pragma once

#include "explore/history.hpp"
#include "vgpu/watch.hpp"

namespace assay::explore {

using Steps = std::vector<vgpu::WatchedStep>; // in the order of execution

struct ThreadOf { // a side's thread; of a copy: the one that asked for it
  race::Agent agent;
  uint32_t lane = 0;
};

// What a watched run tells about the pair.
struct Seen {
  const ir::Program& program;
  const Steps& steps;
  const race::Conflict& conflict;
  ThreadOf threads[2];
  const vgpu::WatchedStep* accesses[2];
  const vgpu::WatchedStep* issue = nullptr; // of the copy that is one of the two
  bool missed = false;                      // both are strong, but the read may miss the write

  bool copies(int side) const {
    return (side ? conflict.second : conflict.first).agent.warp >= race::kCopyAgent;
  }
  bool own(int side, const vgpu::WatchedStep& step) const {
    const ThreadOf& t = threads[side];
    return step.agent.cta == t.agent.cta && step.agent.warp == t.agent.warp &&
           step.lanes >> t.lane & 1;
  }
  ir::OpCode code(const vgpu::WatchedStep& step) const { return program.ops[step.pc].code; }
};

struct Concluded {
  Diagnosis diagnosis;
  // Steps through which the two sides communicate, or should: shown whoever made them.
  std::vector<const vgpu::WatchedStep*> steps;
};

Concluded conclude_missing(const Seen& seen);
Concluded conclude_mbarrier(const Seen& seen); // of two threads of one block

} // namespace assay::explore
