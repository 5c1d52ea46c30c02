// How a planned run is made; see plan.hpp.
#include "explore/plan.hpp"

namespace assay::explore {

vgpu::Outcome perform(const vgpu::JobSpec& job, const Planned& plan, const Options& options) {
  auto policy = schedule::make_policy(plan.policy, plan.seed);
  vgpu::RunOptions run;
  run.step_budget = options.step_budget;
  run.detect = plan.detect;
  run.arms = plan.arms;
  run.poison = plan.poison;
  run.hash_path = plan.hash_path;
  run.level = options.level;
  vgpu::Outcome out = vgpu::run(job, *policy, run);
  stamp(out.trace, job, plan.seed);
  return out;
}

bool inconclusive(vgpu::EventKind kind) {
  using K = vgpu::EventKind;
  return kind == K::budget || kind == K::unsupported || kind == K::out_of_memory ||
         kind == K::cancelled;
}

} // namespace assay::explore
