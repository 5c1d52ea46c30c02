// Pairs within a CTA, run alone; see alone.hpp.
#include "explore/alone.hpp"

#include "explore/pool.hpp"

#include <algorithm>

namespace assay::explore {

vgpu::Arm arm_of(const Pair& p) {
  vgpu::Arm arm;
  arm.first = p.conflict.first;
  arm.second = p.conflict.second;
  arm.space = p.conflict.space;
  arm.address = p.conflict.address;
  arm.launch = p.launch;
  return arm;
}

namespace {

// A pair of the canonical run that a held access turns round. Order conflicts have more to show
// than their bytes: what other conflicts lie behind them.
bool suits(const Pair& p) {
  using Kind = race::Conflict::Kind;
  return (p.conflict.kind == Kind::race || p.conflict.kind == Kind::value_race) &&
         p.conflict.first.agent.cta == p.conflict.second.agent.cta && p.policy == "canonical" &&
         p.arms.empty();
}

bool allocates(const ir::Program& program) { // the heap is shared by all
  return std::any_of(program.ops.begin(), program.ops.end(),
                     [](const ir::Op& op) { return op.code == ir::OpCode::malloc_; });
}

} // namespace

// Is no byte of global memory that one CTA writes touched by another?
bool Alone::independent(Pairs& all, const vgpu::Outcome& first) const {
  if (job_.launches.size() != 1 || !first.completed || !first.time_reads.empty() ||
      !options_.detect || allocates(*job_.launches[0].program))
    return false;
  for (const std::vector<Pair>& instances : all.list())
    if (reach(instances) == race::Distance::grid) return false;
  const vgpu::LaunchSpec& l = job_.launches[0];
  return uint64_t(l.grid[0]) * l.grid[1] * l.grid[2] > 1;
}

vgpu::Outcome Alone::run(uint32_t cta, const std::vector<vgpu::Arm>& arms) const {
  Planned plan{"canonical", options_.seed, arms, {}, true};
  plan.only_cta = cta;
  return perform(job_, plan, options_);
}

const Alone::Usual& Alone::usual(uint32_t cta) {
  auto [at, fresh] = usual_.try_emplace(cta);
  if (fresh) {
    vgpu::Outcome out = run(cta, {});
    at->second = {out.completed, out.digest, out.touched};
  }
  return at->second;
}

std::vector<Pair*> Alone::settle(const std::vector<Pair*>& pairs, Pairs& all,
                                 const vgpu::Outcome& first) {
  if (!independent(all, first)) return pairs;
  std::vector<Pair*> suited;
  std::vector<const Usual*> usuals;
  for (Pair* p : pairs) {
    const bool alone = suits(*p) && usual(p->conflict.first.agent.cta).completed;
    if (!alone) continue;
    suited.push_back(p);
    usuals.push_back(&usual(p->conflict.first.agent.cta));
  }
  std::vector<char> same(suited.size(), 0);
  parallel(suited.size(), options_.threads ? options_.threads : default_threads(), [&](size_t i) {
    const vgpu::Outcome out = run(suited[i]->conflict.first.agent.cta, {arm_of(*suited[i])});
    same[i] = out.completed && out.arms_reversed && out.digest == usuals[i]->digest &&
              out.touched->within(*usuals[i]->touched);
  });
  for (size_t i = 0; i < suited.size(); ++i)
    if (same[i]) suited[i]->tried = suited[i]->reversed = true;
  std::vector<Pair*> left;
  for (Pair* p : pairs)
    if (!p->tried) left.push_back(p);
  return left;
}

} // namespace assay::explore
