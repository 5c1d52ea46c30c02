// What is missing between two accesses, concluded from what their blocks did; see history.hpp.
#pragma once

#include "explore/history.hpp"
#include "vgpu/watch.hpp"

#include <set>

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
  bool own(int side, const vgpu::WatchedStep& step) const { return by(step, threads[side]); }
  // Does the thread take part in it?
  bool by(const vgpu::WatchedStep& step, const ThreadOf& thread) const {
    return step.agent.cta == thread.agent.cta && step.agent.warp == thread.agent.warp &&
           step.lanes >> thread.lane & 1;
  }
  // Phases of barriers at which the thread was in between.
  std::set<uint32_t> phases(const ThreadOf& thread, uint64_t from, uint64_t to) const {
    std::set<uint32_t> out;
    for (const vgpu::WatchedStep& s : steps)
      if (s.phase && s.when > from && s.when < to && by(s, thread)) out.insert(s.phase);
    return out;
  }
  ir::OpCode code(const vgpu::WatchedStep& step) const { return program.ops[step.pc].code; }
};

struct Concluded {
  Diagnosis diagnosis;
  // Steps through which the two sides communicate, or should: shown whoever made them.
  std::vector<const vgpu::WatchedStep*> steps;
};

Concluded conclude_missing(const Seen& seen);
Concluded conclude_copy(const Seen& seen);     // of a copy and a thread of its block
Concluded conclude_mbarrier(const Seen& seen); // of two threads of one block

} // namespace assay::explore
