// What the launches of a stage share is made; see stage.hpp.
#include "vgpu/stage.hpp"

#include "vgpu/watch.hpp"

namespace assay::vgpu {

namespace {
uint32_t ctas_between(const JobSpec& job, uint32_t first, uint32_t end) {
  uint64_t all = 0;
  for (uint32_t i = first; i < end; ++i) all += ctas_of(job.launches[i]);
  return uint32_t(all);
}
} // namespace

Stage::Stage(const JobSpec& job_, const LaunchOrder& order_, uint32_t first_,
             const RunOptions& options_, Memory& memory_, RuntimeMemory& runtime_,
             schedule::Policy& policy_, Outcome& outcome_)
    : job(job_), order(order_), first(first_), end(order.end(first)), options(options_),
      memory(memory_), runtime(runtime_), policy(policy_), outcome(outcome_),
      table(ctas_between(job, first, end)) {
  if (options.detect) {
    std::vector<race::LaunchShape> grids;
    for (uint32_t i = first; i < end; ++i) {
      const LaunchSpec& l = job.launches[i];
      const uint32_t threads = l.block[0] * l.block[1] * l.block[2];
      grids.push_back(
          {uint32_t(ctas_of(l)), (threads + 31) / 32, threads % 32 ? threads % 32 : 32});
    }
    misses_writes = policy.misses_writes();
    for (const Arm& arm : options.arms) misses_writes |= arm.missed && arm.launch == first;
    race::Limits limits;
    limits.versions = misses_writes; // and what keeps a late write from being passed by
    for (const Arm& arm : options.arms) limits.versions |= arm.late;
    limits.fence_order = options.fence_order;
    detector = std::make_unique<race::Detector>(grids, limits);
    if (options.only_cta != ir::kNoIndex) {
      outcome.touched = std::make_shared<race::Touched>();
      detector->touch(outcome.touched.get());
    }
    for (Region* r : memory.regions())
      if (r->tracked) detector->track(r->base, r->size);
    for (Region* r : runtime.regions()) detector->track(r->base, r->size);
  }
  for (const Arm& arm : options.arms)
    if (arm.launch == first) arms.push_back({arm});
  for (uint32_t i = first; i < end; ++i) machines.push_back(std::make_unique<Machine>(*this, i));
}

} // namespace assay::vgpu
