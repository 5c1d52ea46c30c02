// Launches in execution together, each with a machine of its own (machine.hpp), and what these
// share: memory, the agents that can run, the detector. Nearly always it is one launch. The first
// machine's run() is the loop for all of them. Invariant: CTAs are numbered through all launches of
// the stage, so that agents have different ids.
#pragma once

#include "vgpu/fences.hpp"
#include "vgpu/late.hpp"
#include "vgpu/launch_order.hpp"
#include "vgpu/machine.hpp"

namespace assay::vgpu {

struct Stage {
  Stage(const JobSpec& job, const LaunchOrder& order, uint32_t first, const RunOptions& options,
        Memory& memory, RuntimeMemory& runtime, schedule::Policy& policy, Outcome& outcome);
  void run() { machines.front()->run(); }
  bool alone() const { return machines.size() == 1; }

  const JobSpec& job;
  const LaunchOrder& order;
  const uint32_t first, end; // launches
  const RunOptions& options;
  Memory& memory;
  RuntimeMemory& runtime;
  schedule::Policy& policy;
  Outcome& outcome;

  Runnable runnable;
  CtaTable table; // of the resident CTAs of all
  std::vector<ArmState> arms;
  std::vector<LateWrite> late;
  uint32_t late_asked = 0; // how often the policy has been asked for one
  std::vector<HeldFence> held_fences;
  uint32_t delayed_fences = 0; // so far
  std::vector<PutOffFence> put_off;
  std::unique_ptr<race::Detector> detector; // null without detection
  bool misses_writes = false;               // strong reads may
  bool abort = false;
  bool spinning = false;       // some group has spun
  bool changed = false;        // some byte or object, since waits were refused
  uint64_t stalled_agents = 0; // visits in a row without progress
  uint32_t live_ctas = 0;
  uint32_t turns_since_admission = 0; // of agents, since a CTA was last admitted
  uint64_t held_since = 0;            // of the step budget: when an access was held
  uint64_t late_since = 0;            // the turn when a write was late, or a fence
  std::vector<std::unique_ptr<Machine>> machines;
};

} // namespace assay::vgpu
