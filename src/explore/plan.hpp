// One run that an exploration plans: policy, seed, accesses to hold back, poison pattern.
#pragma once

#include "explore/explore.hpp"

#include <optional>

namespace assay::explore {

struct Planned {
  std::string policy;
  uint64_t seed = 0;
  std::vector<vgpu::Arm> arms;
  vgpu::Poison poison = vgpu::Poison::nan_like;
  bool detect = true, hash_path = false;
  bool one_float_order = false; // floating-point atomics to a cell take effect in one order
  vgpu::Variation vary = {};
  uint32_t only_cta = ir::kNoIndex; // see vgpu::RunOptions
  uint64_t step_budget = 0;         // 0: that of the options
  bool fence_order = true;          // see vgpu::RunOptions
};

// Runs it; the outcome's trace carries the job's hashes.
vgpu::Outcome perform(const vgpu::JobSpec& job, const Planned& plan, const Options& options);

// Do runs with other open values agree? What they leave in scratch, nobody reads. Between schedules
// it counts: there other bytes are what a race or an order did.
bool same_result(const vgpu::JobSpec& job, const vgpu::Outcome& a, const vgpu::Outcome& b);

// Repeats a recorded run as far as it goes after a change (schedule/guided.cpp).
vgpu::Outcome guided(const vgpu::JobSpec& job, const schedule::Trace& trace,
                     const Options& options);
bool has_fence_sc(const vgpu::JobSpec& job);

// How a recorded run is repeated.
Result<vgpu::RunOptions> options_of(const schedule::Trace& trace, const Options& options);

// What the detector is told of a strong access or atomic operation; nothing of other operations.
std::optional<race::AccessInfo> strong_access(const ir::Program& program, uint32_t pc);

// Where one side of a conflict accessed what; `launch` as in vgpu::Outcome::LaunchConflicts.
vgpu::Place place_of(const vgpu::JobSpec& job, uint32_t launch, const race::Conflict& conflict,
                     const race::Side& side);

// Why the placement of buffers stands in the way of a proof: a launch uses an address as data.
std::vector<std::string> address_uses(const vgpu::JobSpec& job);

// Is there an asynchronous copy whose time a schedule may choose?
bool copies_asynchronously(const vgpu::JobSpec& job);

// Events that leave no verdict: a spent budget, an unsupported instruction, no memory left.
bool inconclusive(vgpu::EventKind kind);
bool ended_early(const vgpu::Outcome& out); // by an event of such a kind
// Why there is none, with the place.
std::string reason(const vgpu::JobSpec& job, const vgpu::Event& e);

} // namespace assay::explore
