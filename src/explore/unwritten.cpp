// Runs with other bytes in memory that nobody has written; see unwritten.hpp.
#include "explore/unwritten.hpp"

namespace assay::explore {

namespace {

constexpr size_t kMostAlone = 32; // reads that are tried on their own; those behind are guilty

// The first of `fills` with which the run differs from `usual`; into `into`.
bool follows(Planned plan, const std::vector<vgpu::Poison>& fills, const vgpu::Outcome& usual,
             const vgpu::JobSpec& job, const Options& options, UnwrittenRead& into,
             uint64_t& runs) {
  for (vgpu::Poison fill : fills) {
    plan.poison = fill;
    vgpu::Outcome out = perform(job, plan, options);
    ++runs;
    if (ended_early(out) || ended_early(usual)) continue; // shows nothing
    if (out.path == usual.path && same_result(job, usual, out)) continue;
    into.differing = differences(usual, out);
    into.other = out.trace;
    return into.matters = true;
  }
  return false;
}

} // namespace

std::vector<UnwrittenRead> settle_unwritten(const vgpu::JobSpec& job,
                                            const std::vector<vgpu::Event>& reads,
                                            const Options& options, uint64_t& runs) {
  std::vector<UnwrittenRead> all;
  for (const vgpu::Event& e : reads) all.push_back({e, false, {}, {}});
  Planned plan{"canonical", options.seed, {}, vgpu::Poison::nan_like, true, true};
  const vgpu::Outcome usual = perform(job, plan, options);
  UnwrittenRead together;
  std::vector<vgpu::Poison> fills; // that made a difference together
  for (uint32_t p = 1; p < vgpu::kPoisons; ++p) {
    UnwrittenRead one;
    if (!follows(plan, {vgpu::Poison(p)}, usual, job, options, one, runs)) continue;
    fills.push_back(vgpu::Poison(p));
    if (!together.matters) together = std::move(one);
  }
  if (fills.empty()) return all;
  bool found = false;
  for (size_t i = 0; i < all.size() && i < kMostAlone && all.size() > 1; ++i) {
    plan.vary.launch = reads[i].places[0].launch;
    plan.vary.pc = reads[i].places[0].pc;
    found |= follows(plan, fills, usual, job, options, all[i], runs);
  }
  // It may take several at once, as when they are compared: then nobody can say which is guilty.
  for (size_t i = found ? kMostAlone : 0; i < all.size(); ++i) {
    all[i].matters = true;
    all[i].differing = together.differing;
    all[i].other = together.other;
  }
  return all;
}

} // namespace assay::explore
