// Bookkeeping of conflicts over the runs of an exploration; see pairs.hpp.
#include "explore/pairs.hpp"

#include "explore/plan.hpp"
#include "ir/commuting.hpp"

#include <algorithm>

namespace assay::explore {

using race::Conflict;

namespace {
constexpr size_t kMostInstances = 4;

bool reads_unwritten(const vgpu::Outcome& out, uint32_t launch, const Conflict& c) {
  auto at = [&](const vgpu::Event& e, const race::Side& side) {
    return e.places[0].launch == launch + side.grid && e.places[0].pc == side.info.pc;
  };
  return std::any_of(out.uninitialised_reads.begin(), out.uninitialised_reads.end(),
                     [&](const vgpu::Event& e) { return at(e, c.first) || at(e, c.second); });
}
} // namespace

Pairs::Key Pairs::key_of(uint32_t launch, const Conflict& c) {
  Operation a{launch + c.first.grid, c.first.info.pc}, b{launch + c.second.grid, c.second.info.pc};
  return {c.kind == Conflict::Kind::order, std::min(a, b), std::max(a, b), c.space};
}

bool Pairs::take(const vgpu::Outcome& out, const std::string& policy,
                 const std::vector<vgpu::Arm>& arms) {
  bool race = false;
  for (const auto& launch : out.conflicts)
    for (const Conflict& c : launch.conflicts) {
      race |= c.kind == Conflict::Kind::race;
      auto [at, fresh] = index_.try_emplace(key_of(launch.launch, c), list_.size());
      if (fresh) list_.emplace_back();
      std::vector<Pair>& instances = list_[at->second];
      bool value = c.kind == Conflict::Kind::value_race;
      const race::Distance distance = race::distance(c.first.agent, c.second.agent);
      within_warp_ |= distance == race::Distance::warp;
      if (!instances.empty()) instances[0].widest = std::max(instances[0].widest, distance);
      // What is a race somewhere is a value race nowhere.
      for (Pair& p : instances) {
        p.value_race &= value;
        value &= p.value_race;
      }
      // Of writes that store one value there may be many before those that do not.
      auto alike = [&](const Pair& other) {
        return (other.conflict.kind == Conflict::Kind::value_race) ==
               (c.kind == Conflict::Kind::value_race);
      };
      if (size_t(std::count_if(instances.begin(), instances.end(), alike)) >= kMostInstances)
        continue;
      Pair p;
      p.launch = launch.launch;
      p.conflict = c;
      p.policy = policy;
      p.arms = arms;
      p.trace = out.trace;
      p.outcome = out.digest;
      p.completed = out.completed;
      p.value_race = value;
      p.widest = distance;
      p.unwritten = reads_unwritten(out, launch.launch, c);
      instances.push_back(std::move(p));
    }
  return race;
}

void Pairs::blame(const vgpu::Outcome::MissedRead& missed, const std::string& policy,
                  const schedule::Trace& usual_trace, const Digest& usual,
                  const schedule::Trace& trace, const Digest& outcome,
                  const std::vector<Difference>& differing) {
  auto [at, fresh] = index_.try_emplace(key_of(missed.launch, missed.pair), list_.size());
  if (fresh) list_.emplace_back();
  Pair p;
  p.launch = missed.launch;
  p.conflict = missed.pair;
  for (race::Side* side : {&p.conflict.first, &p.conflict.second}) {
    const ir::Program& program = *job_.launches[p.launch + side->grid].program;
    if (side->info.pc < program.ops.size()) // the version of memory does not know what wrote it
      if (auto info = strong_access(program, side->info.pc)) side->info = *info;
  }
  p.policy = policy;
  p.trace = usual_trace;
  p.outcome = usual;
  p.completed = true;
  p.reversed = p.tried = p.differs = p.missed = true;
  p.differing = differing;
  p.other_trace = trace;
  p.other = outcome;
  list_[at->second].push_back(std::move(p));
}

bool Pairs::unsettled() const {
  for (const std::vector<Pair>& instances : list_)
    for (const Pair& p : instances) {
      const Conflict& c = p.conflict;
      bool one_instruction =
          c.kind == Conflict::Kind::value_race && c.first.info.pc == c.second.info.pc &&
          c.first.agent.cta == c.second.agent.cta && c.first.agent.warp == c.second.agent.warp &&
          c.first.time == c.second.time;
      if (!one_instruction && !commuting(p)) return true;
    }
  return false;
}

bool Pairs::at_stake() const {
  for (const std::vector<Pair>& instances : list_)
    for (const Pair& p : instances) {
      const Conflict& c = p.conflict;
      if (!p.is_order() || !c.first.info.write || !c.second.info.write || c.first.info.read ||
          c.second.info.read || c.stake != race::Stake::none)
        return true;
    }
  return false;
}

bool Pairs::commuting(const Pair& p) const { return commuting(p.launch, p.conflict); }

bool Pairs::commuting(uint32_t launch, const Conflict& c) const {
  if (c.kind != Conflict::Kind::order) return false;
  const ir::MemInfo* info[2];
  for (int i = 0; i < 2; ++i) {
    const race::Side& side = i ? c.second : c.first;
    const ir::Program& program = *job_.launches[launch + side.grid].program;
    const ir::Op& op = program.ops[side.info.pc];
    if (op.code != ir::OpCode::red && op.code != ir::OpCode::atom) return false;
    info[i] = &program.mem[op.c];
    if (!ir::commutes(op, *info[i])) return false;
  }
  return info[0]->atomic == info[1]->atomic && info[0]->type == info[1]->type;
}

bool Pairs::is_race_of(const Pair& order) const {
  for (const std::vector<Pair>& instances : list_)
    for (const Pair& p : instances) {
      if (p.is_order() || !p.differs) continue;
      if ((p.outcome == order.outcome && p.other == order.other) ||
          (p.outcome == order.other && p.other == order.outcome))
        return true;
    }
  return false;
}

bool Pairs::is_behind_race(const Pair& order) const {
  for (const Conflict& c : order.other_races) {
    auto at = index_.find(key_of(order.launch, c));
    if (at == index_.end()) continue;
    for (const Pair& p : list_[at->second])
      if (!p.value_race && (p.differs || (p.tried && !p.reversed))) return true;
  }
  return false;
}

const Pair& most_telling(const std::vector<Pair>& instances) {
  auto score = [](const Pair& p) {
    return (p.value_race ? 0 : 8) + (p.differs ? 4 : 0) + (p.reversed ? 2 : 0) + (p.tried ? 1 : 0);
  };
  // Of mere orders, what needs no store to be late, and those between blocks: what orders them
  // orders threads of one block as well.
  auto telling = [&](const Pair& p) {
    return std::tuple(score(p), !p.is_order() || !p.missed,
                      p.is_order() ? race::distance(p.conflict.first.agent, p.conflict.second.agent)
                                   : race::Distance::warp);
  };
  return *std::max_element(instances.begin(), instances.end(), [&](const Pair& a, const Pair& b) {
    return telling(a) < telling(b); // the first of equals
  });
}

race::Distance reach(const std::vector<Pair>& instances) {
  race::Distance widest = race::Distance::warp;
  for (const Pair& p : instances)
    widest = std::max(
        {widest, p.widest, race::distance(p.conflict.first.agent, p.conflict.second.agent)});
  return widest;
}

} // namespace assay::explore
