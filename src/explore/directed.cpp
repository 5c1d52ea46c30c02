// Directed exploration: conflicts in their other order, reads that miss writes. See explorer.hpp.
#include "explore/explorer.hpp"

#include "ir/commuting.hpp"

#include <map>
#include <utility>

namespace assay::explore {

using race::Conflict;

void Explorer::directed() {
  size_t& left = directed_left_;
  for (size_t instance = 0; instance < 8 && !found_enough();) {
    std::vector<Pair*> pairs = untried(instance);
    if (options_.until_found && pairs.size() > kBatch) pairs.resize(kBatch);
    if (pairs.size() > left) pairs.resize(left);
    if (pairs.empty() || out_of_time()) {
      ++instance;
      continue;
    }
    left -= pairs.size();
    reverse(pairs);
  }
}

void Explorer::count_unturned() {
  size_t skipped = 0;
  for (const std::vector<Pair>& instances : pairs_.list())
    if (std::none_of(instances.begin(), instances.end(), [](auto& p) { return p.differs; }))
      for (const Pair& p : instances) skipped += !p.tried && turnable(p);
  if (skipped)
    report_.not_reached.push_back(fmt::format("{} further instances of conflicts", skipped));
}

std::vector<Pair*> Explorer::untried(size_t instance) {
  std::vector<Pair*> found;
  for (std::vector<Pair>& instances : pairs_.list()) {
    if (std::any_of(instances.begin(), instances.end(), [](auto& p) { return p.differs; }))
      continue;
    for (size_t i = 0; i <= instance && i < instances.size(); ++i)
      if (!instances[i].tried && turnable(instances[i])) {
        found.push_back(&instances[i]);
        break;
      }
  }
  return found;
}

void Explorer::reverse(const std::vector<Pair*>& all) {
  const std::vector<Pair*> pairs = options_.alone ? alone_.settle(all, pairs_, report_.first) : all;
  report_.schedules += all.size() - pairs.size();
  std::vector<Planned> plans;
  std::vector<Shown> shown;
  for (const Pair* p : pairs) plans.push_back(reversal(*p));
  size_t at = 0;
  run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
    Pair& p = *pairs[at++];
    p.tried = true;
    const bool shows = out.completed || !out.events.empty();
    p.reversed =
        (shows && out.arms_reversed) || p.conflict.kind == Conflict::Kind::same_instruction;
    take_directed(plan, out);
    take_turned(p, out);
    // Behind a race that went the other way anything may follow: the race is the defect.
    if (!p.is_order() || !p.reversed) return;
    shown.emplace_back(out, plan);
  });
  reverse_anyhow(pairs, shown);
  miss(pairs, shown, false);
  miss(pairs, shown, true);
  postpone(pairs, shown);
  for (const Shown& s : shown)
    if (pairs_.take(s.out, s.policy, s.arms)) report_.race_free = false;
  for (const Overtaken& o : std::exchange(overtaken_, {}))
    pairs_.blame(o.by, o.run.policy, o.usual_trace, o.usual, o.run.trace, o.run.digest,
                 o.run.differing);
}

void Explorer::reverse_anyhow(const std::vector<Pair*>& pairs, std::vector<Shown>& shown) {
  std::vector<Pair*> left;
  std::vector<Planned> plans;
  for (Pair* p : pairs) {
    if (p->reversed || p->differs || p->conflict.kind == Conflict::Kind::same_instruction) continue;
    for (const char* policy : {"canonical", "lane-split"}) {
      Planned plan = reversal(*p);
      plan.policy = policy;
      plan.arms.back().first.time = plan.arms.back().second.time = vgpu::kAnyTime;
      left.push_back(p);
      plans.push_back(std::move(plan));
    }
  }
  size_t at = 0;
  run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
    Pair& p = *left[at++];
    take_directed(plan, out);
    if (!out.arms_reversed || (!out.completed && out.events.empty()) || p.differs) return;
    // It may have been another instance of the two operations: the same bytes settle nothing.
    const Digest& usual = p.completed ? p.outcome : report_.first.digest;
    if (!out.completed || out.digest != usual) {
      p.reversed = true;
      take_turned(p, out);
    }
    if (p.is_order()) shown.emplace_back(out, plan); // takes the conflicts
  });
}

// A strong read may miss a strong write; a write or an update only what stores without looking (a
// store, an exchange whose result nobody uses), which then comes after it.
bool Explorer::may_miss(const Pair& p) const {
  const race::AccessInfo &first = p.conflict.first.info, &second = p.conflict.second.info;
  if (!p.is_order() || !first.write) return false;
  if (!second.write || !first.atomic) return true;
  const ir::Program& program = *job_.launches[p.launch + p.conflict.first.grid].program;
  const ir::Op& op = program.ops[first.pc];
  return ir::is_unread(op, program.mem[op.c]) && program.mem[op.c].atomic == ir::AtomicOp::exch;
}

void Explorer::miss(const std::vector<Pair*>& pairs, std::vector<Shown>& shown, bool hold_fences) {
  if (hold_fences && !has_fence_sc(job_)) return;
  std::vector<Pair*> writes;
  std::vector<Planned> plans;
  for (Pair* p : pairs) {
    if (p->differs || !may_miss(*p)) continue;
    writes.push_back(p);
    plans.push_back(reversal(*p));
    plans.back().arms.back().missed = true;
    plans.back().arms.back().holds_fence = hold_fences;
  }
  size_t at = 0;
  run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
    Pair& p = *writes[at++];
    take_directed(plan, out);
    if (!out.arms_reversed || (!out.completed && out.events.empty())) return;
    p.reversed = p.missed = true;
    take_turned(p, out);
    shown.emplace_back(out, plan);
  });
}

bool Explorer::may_be_late(const Pair& p) const {
  const race::AccessInfo& first = p.conflict.first.info;
  if (!p.is_order() || !first.atomic || first.bytes > 8 || pairs_.commuting(p)) return false;
  const ir::Program& program = *job_.launches[p.launch + p.conflict.first.grid].program;
  const ir::Op& op = program.ops[first.pc];
  return ir::is_unread(op, program.mem[op.c]) && program.mem[op.c].vector == 1;
}

void Explorer::postpone(const std::vector<Pair*>& pairs, std::vector<Shown>& shown) {
  std::vector<Pair*> late;
  std::vector<Planned> plans;
  for (Pair* p : pairs) {
    if (p->differs || !may_be_late(*p)) continue;
    race::Side all = p->conflict.first;
    all.lane = 0; // the lanes of one instruction are late together
    if (!postponed_.insert(moment(*p, all)).second) continue;
    late.push_back(p);
    plans.push_back(reversal(*p));
    plans.back().arms.back().late = true;
  }
  size_t at = 0;
  run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
    Pair& p = *late[at++];
    take_directed(plan, out);
    if ((!out.arms_reversed && out.missed_reads.empty()) || (!out.completed && out.events.empty()))
      return;
    const Digest& usual = p.completed ? p.outcome : report_.first.digest;
    // Several may have come before the update; what one of them read is the likeliest cause.
    auto cause = std::find_if(out.missed_reads.begin(), out.missed_reads.end(),
                              [](const auto& m) { return m.pair.second.info.read; });
    const bool some = cause != out.missed_reads.end();
    if (out.completed && out.digest != usual &&
        (!out.arms_reversed || (some && !p.conflict.second.info.read))) {
      overtaken_.push_back(
          {some ? *cause : out.missed_reads.front(),
           p.trace,
           usual,
           {plan.policy, out.trace, out.digest, differences(report_.first, out), {}}});
    } else if (out.arms_reversed) {
      p.reversed = p.missed = true;
      take_turned(p, out);
    }
    shown.emplace_back(out, plan);
  });
}

Planned Explorer::limited(Planned plan) const {
  constexpr uint64_t kLeast = 20000000, kTimes = 50, kPoint = 256;
  const vgpu::Outcome& first = report_.first;
  if (!plan.arms.empty())
    plan.step_budget =
        std::min(options_.step_budget,
                 kLeast + kTimes * (first.thread_instructions + kPoint * first.scheduling_points));
  return plan;
}

void Explorer::gave_up(const Planned& plan, vgpu::Outcome& out) {
  if (plan.arms.empty() || limited(plan).step_budget == options_.step_budget) return;
  auto spent = [](const vgpu::Event& e) {
    return e.kind == vgpu::EventKind::budget && e.message.find("step") != std::string::npos;
  };
  if (std::erase_if(out.events, spent)) ++given_up_;
}

void Explorer::last_of_all() {
  if (!report_.deterministic) return;
  std::set<Moment> seen;
  std::vector<Pair*> pairs;
  std::vector<Planned> plans;
  for (std::vector<Pair>& instances : pairs_.list()) {
    if (std::any_of(instances.begin(), instances.end(), [](auto& p) { return p.differs; }))
      continue;
    for (Pair& p : instances) {
      const race::Side &first = p.conflict.first, &second = p.conflict.second;
      if (p.is_order() && !report_.race_free) continue; // what differs may be the race's doing
      if (!first.info.write || !second.info.write || p.value_race || pairs_.commuting(p)) continue;
      for (const race::Side* side : {&first, &second}) {
        if (plans.size() >= options_.directed_runs || !seen.insert(moment(p, *side)).second)
          continue;
        Planned plan = reversal(p);
        plan.policy = p.policy;
        vgpu::Arm arm = arm_of(p);
        arm.first = *side;
        arm.second = {};
        arm.second.agent.cta = UINT32_MAX; // nobody: it goes on when all others wait
        plan.arms = p.arms;
        plan.arms.push_back(arm);
        plans.push_back(std::move(plan));
        pairs.push_back(&p);
      }
    }
  }
  size_t at = 0;
  run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
    Pair& p = *pairs[at++];
    take_directed(plan, out);
    const Digest& usual = p.completed ? p.outcome : report_.first.digest;
    if (!out.completed || out.digest == usual) return;
    p.reversed = true;
    p.missed = false; // it is the last write that makes the difference
    take_turned(p, out);
  });
}

void Explorer::fence_orders() {
  if (!report_.first.fences_met || !report_.deterministic || !report_.race_free) return;
  Pairs hidden(job_);
  hidden.take(unfenced_, "canonical");
  constexpr size_t kMostLate = 64; // nearly all of them miss() has tried
  size_t left = 0;
  std::vector<Planned> plans, late;
  std::vector<const Pair*> missed;
  for (std::vector<Pair>& instances : hidden.list())
    for (const Pair& p : instances) {
      if (!pairs_.knows(p) && !hidden.commuting(p)) {
        if (plans.size() < options_.directed_runs)
          plans.push_back(reversal(p));
        else
          ++left;
      }
      // Lanes that meet at a vote cannot be held apart, but their fences can.
      const bool lanes = !p.is_order() && p.conflict.first.agent == p.conflict.second.agent;
      if (late.size() >= kMostLate || (!may_miss(p) && !lanes)) continue;
      late.push_back(reversal(p));
      late.back().arms.back().missed = late.back().arms.back().holds_fence = true;
      missed.push_back(&p);
    }
  std::vector<Planned> again; // what did not come about, by others of the two operations
  auto take = [&](const Planned& plan, vgpu::Outcome& out) {
    take_events(out, plan.policy);
    if (pairs_.take(out, plan.policy, plan.arms)) report_.race_free = false;
    compare(out, plan);
  };
  run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
    take(plan, out);
    if (out.arms_reversed) return;
    again.push_back(plan);
    again.back().arms.back().first.time = again.back().arms.back().second.time = vgpu::kAnyTime;
  });
  // Where all others waited for the held access to the end, there is only one order.
  run_plans(again, [&](const Planned& plan, vgpu::Outcome& out) {
    take(plan, out);
    left += !out.arms_reversed && !out.completed;
  });
  if (left)
    report_.not_reached.push_back(
        fmt::format("{} conflicts that the order of fences hides, the other way round", left));
  // Or the writer's fence comes last, and what the other one does before its own misses the write.
  size_t at = 0;
  run_plans(late, [&](const Planned& plan, vgpu::Outcome& out) {
    const Pair& p = *missed[at++];
    take(plan, out);
    if (out.arms_reversed && out.completed && out.digest != report_.first.digest)
      pairs_.blame({p.launch, 0, p.conflict}, plan.policy, report_.first_trace,
                   report_.first.digest, out.trace, out.digest, differences(report_.first, out));
  });
}

void Explorer::miss_together() {
  std::vector<const Pair*> missed;
  for (const std::vector<Pair>& instances : pairs_.list())
    for (const Pair& p : instances)
      if (p.missed && !p.differs && !p.conflict.second.info.write && p.arms.empty() &&
          p.policy == "canonical")
        missed.push_back(&p);
  if (!report_.deterministic || missed.size() > kMostMissed) return;
  std::vector<Planned> plans;
  for (size_t i = 0; i < missed.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      if (missed[i]->launch != missed[k]->launch) continue;
      Planned both = reversal(*missed[i]);
      both.arms.push_back(reversal(*missed[k]).arms.back());
      for (vgpu::Arm& a : both.arms) a.missed = true;
      plans.push_back(std::move(both));
    }
  run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) { take_directed(plan, out); });
}

void Explorer::blame_misses() {
  if (report_.deterministic || !report_.race_free) return;
  for (const std::vector<Pair>& instances : pairs_.list())
    for (const Pair& p : instances)
      if (p.differs) return;
  for (const DifferingRun& d : differing_runs_)
    if (blame_one(d) || blame_operations(d)) return;
}

// Does the run leave the usual bytes when none of these is missed, or late?
bool Explorer::without(const DifferingRun& run,
                       const std::vector<const vgpu::Outcome::MissedRead*>& missed) {
  schedule::Trace trace = run.trace;
  for (const vgpu::Outcome::MissedRead* m : missed) {
    if (m->choice >= trace.choices.size()) return false;
    trace.choices[m->choice] = 0;
  }
  const vgpu::Outcome found = guided(job_, trace, options_);
  ++report_.schedules;
  if (!found.completed || found.digest != report_.first.digest) return false;
  pairs_.blame(*missed.front(), run.policy, report_.first_trace, report_.first.digest, run.trace,
               run.digest, run.differing);
  return true;
}

bool Explorer::blame_one(const DifferingRun& run) {
  constexpr size_t kMostTries = 32;
  for (size_t i = std::min(run.missed_reads.size(), kMostTries); i-- > 0;)
    if (without(run, {&run.missed_reads[i]})) return true;
  return false;
}

// Several warps may have made the same update, all of them late.
bool Explorer::blame_operations(const DifferingRun& run) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<const vgpu::Outcome::MissedRead*>> all;
  for (const vgpu::Outcome::MissedRead& m : run.missed_reads)
    all[{m.pair.first.info.pc, m.pair.second.info.pc}].push_back(&m);
  for (const auto& [operations, missed] : all)
    if (missed.size() > 1 && without(run, missed)) return true;
  return false;
}

void Explorer::take_turned(Pair& p, const vgpu::Outcome& out) {
  if (!p.reversed || (!out.completed && out.events.empty())) return;    // given up: shows nothing
  const Digest& usual = p.completed ? p.outcome : report_.first.digest; // what an end leaves
  if (out.completed && out.digest == usual) return;
  p.differs = out.completed;
  p.differing = out.completed ? differences(report_.first, out) : std::vector<Difference>{};
  p.other_trace = out.trace;
  p.other = out.digest;
  for (const auto& launch : out.conflicts)
    for (const Conflict& c : launch.conflicts)
      if (p.is_order() && launch.launch == p.launch && c.kind == Conflict::Kind::race)
        p.other_races.push_back(c);
}

Planned Explorer::reversal(const Pair& p) const {
  Planned plan{p.policy, p.trace.seed, p.arms, {}, true};
  const schedule::Trace::Vary& vary = p.trace.vary; // all else as in the run that showed it
  plan.poison = vgpu::Poison(vary.poison);
  plan.vary = {uint8_t(vary.open), uint8_t(vary.time), vary.launch, vary.pc};
  if (p.conflict.kind == Conflict::Kind::same_instruction) {
    plan.policy = p.policy == "reverse" ? "canonical" : "reverse";
    return plan;
  }
  plan.arms.push_back(arm_of(p));
  return plan;
}

} // namespace assay::explore
