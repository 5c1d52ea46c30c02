// The scheduling loop of one launch: which agent runs, when CTAs start, how groups split, wait and
// merge. Rules: docs/concurrency.md, "What the scheduler decides", "Lanes", "Progress".
//
// Invariants: `runnable` holds exactly the ready groups and the pending copies, sorted; a group's
// id (its lowest lane) changes only between erase and insert; every live lane is in one live group.
#include "base/check.hpp"
#include "vgpu/stage.hpp"

#include <fmt/format.h>

namespace assay::vgpu {

namespace {
// When every runnable agent has come back this often without changing a byte, more CTAs are
// admitted and held accesses let go. A whole quantum counts as many visits, and a visit of a group
// that is known to spin as more.
constexpr uint64_t kStalled = 256, kQuantumWeight = 32, kSpinWeight = 128;
// What a scheduling point costs of the step budget, in thread-instructions: about its share of
// time. Otherwise one lane that polls for ever would run for minutes before anybody is told.
constexpr uint64_t kPointSteps = 256;
// And each lane of an atomic operation, which is looked at by itself.
constexpr uint64_t kAtomicSteps = 32;
// And a poll that finds nothing new: it is compared with whoever has written there.
constexpr uint64_t kVainSteps = 2048;
// Visits without progress after which the siblings of a group are let go from their joins.
constexpr uint32_t kVisits = 32;
// Turns of agents, each with progress, after which another CTA starts.
constexpr uint32_t kPatience = 1 << 11;
} // namespace

Group* Machine::new_group(Warp& w) {
  ++w.group_count;
  for (Group& g : w.groups)
    if (g.state == GroupState::dead) return &g;
  CHECK(w.groups.size() < 32);
  return &w.groups.emplace_back();
}

void Machine::kill_group(Warp& w, Group& g) {
  if (g.state == GroupState::ready) runnable.erase(id_of(w, g));
  g.state = GroupState::dead;
  g.lanes = 0;
  g.frames.clear();
  g.joins.clear();
  g.deposit.reset();
  g.has_deposit = g.bypassed = false;
  g.poll.reset();
  g.stalled = 0;
  --w.group_count;
}

// The other half of `g` as a group of its own, at `pc`, ready; g keeps `keep`.
static Group* part(Machine& m, Warp& w, Group& g, uint32_t keep, uint32_t pc) {
  uint32_t rest = g.lanes & ~keep;
  bool ready = g.state == GroupState::ready;
  if (ready) m.runnable.erase(m.id_of(w, g));
  g.lanes = keep;
  if (ready) m.runnable.insert(m.id_of(w, g));
  Group* other = m.new_group(w);
  other->lanes = rest;
  other->pc = pc;
  other->function = g.function;
  other->regs_base = g.regs_base;
  other->local_base = g.local_base;
  other->bypassed = g.bypassed;
  other->bypassed_pc = g.bypassed_pc;
  other->frames = g.frames;
  other->joins = g.joins;
  other->state = GroupState::dead;
  m.set_state(w, *other, GroupState::ready);
  return other;
}

void Machine::diverge(Warp& w, uint32_t taken, uint32_t target, uint32_t next,
                      uint32_t reconverge) {
  Group& g = *w.group;
  // At most one record a reconvergence point: a loop whose lanes leave one by one shares it.
  if (reconverge != ir::kNoIndex && policy.reconverge() &&
      (g.joins.empty() || g.joins.back().pc != reconverge))
    g.joins.push_back({reconverge, g.lanes, next_join++});
  uint32_t lowest = g.lanes & -g.lanes;
  bool low_taken = taken & lowest;
  uint32_t keep = low_taken ? taken : g.lanes & ~taken;
  part(*this, w, g, keep, low_taken ? next : target);
  g.pc = low_taken ? target : next;
}

void Machine::merge(Warp& w, Group& into, Group& from) {
  bool ready = into.state == GroupState::ready;
  if (ready) runnable.erase(id_of(w, into));
  uint32_t lanes = from.lanes;
  into.bypassed |= from.bypassed;
  kill_group(w, from);
  into.lanes |= lanes;
  if (ready) runnable.insert(id_of(w, into));
}

// Groups that wait at the same join become one once every live lane of its record is there.
void Machine::check_joins(Warp& w) {
  for (bool again = true; again;) {
    again = false;
    for (Group& g : w.groups) {
      if (g.state != GroupState::at_join) continue;
      if (g.joins.empty()) {
        set_state(w, g, GroupState::ready);
        continue;
      }
      JoinRecord record = g.joins.back();
      uint32_t there = 0;
      for (Group& o : w.groups)
        if (o.state == GroupState::at_join && !o.joins.empty() && o.joins.back().id == record.id)
          there |= o.lanes;
      if ((record.lanes & w.live & ~there) != 0) continue;
      for (Group& o : w.groups)
        if (&o != &g && o.state == GroupState::at_join && !o.joins.empty() &&
            o.joins.back().id == record.id)
          merge(w, g, o);
      g.joins.pop_back();
      set_state(w, g, GroupState::ready);
      again = true;
    }
  }
}

// Joins are a preference: groups that wait at one run on (so that a sibling that spins or waits for
// them can make progress). Those that overtake a sibling at a barrier are marked.
void Machine::release_joins(Warp& w) {
  const Group* blocked = nullptr;
  for (Group& g : w.groups)
    if (g.state == GroupState::at_barrier && program.ops[g.pc].flags & ir::kAligned) blocked = &g;
  for (Group& g : w.groups) {
    if (g.state != GroupState::at_join) continue;
    if (!g.joins.empty()) g.joins.pop_back();
    if (blocked) {
      g.bypassed = true;
      g.bypassed_pc = blocked->pc;
    }
    set_state(w, g, GroupState::ready);
  }
}

void Machine::settle(Warp& w) {
  if (w.live == 0) return;
  if (w.group_count == 1 && w.groups[0].state != GroupState::dead &&
      w.groups[0].state != GroupState::at_join)
    return w.groups[0].joins.clear();
  check_joins(w);
  bool runs = false, waits = false, held = false;
  for (Group& g : w.groups) {
    runs |= g.state == GroupState::ready;
    held |= g.state == GroupState::held;
    waits |= g.state == GroupState::at_join;
  }
  if (!runs && waits && !held) release_joins(w);
  if (w.group_count == 1)
    for (Group& g : w.groups)
      if (g.state != GroupState::dead) g.joins.clear();
}

void Machine::exit_lanes(Warp& w, uint32_t lanes) {
  Group& g = *w.group;
  CHECK(g.lanes == lanes);
  if (g.bypassed)
    for (Group& o : w.groups)
      if (o.state == GroupState::at_barrier && o.pc == g.bypassed_pc && !abort) {
        uint32_t other = uint32_t(__builtin_ctz(o.lanes)), self = uint32_t(__builtin_ctz(lanes));
        outcome.events.push_back(
            {EventKind::barrier_divergence,
             fmt::format(
                 "lanes of one warp wait at a barrier that lane {} of the warp has gone round "
                 "and exited",
                 self),
             {place(w, o.pc, other, waits_for(w, o))}});
        abort = true;
      }
  kill_group(w, g);
  w.live &= ~lanes;
  w.cta->live_lanes -= count_lanes(lanes);
  if (detector) detector->exited(agent(w), lanes);
  Cta& cta = *w.cta;
  if (w.live == 0) {
    --cta.live_warps;
  } else {
    check_meets(w);
    settle(w);
  }
  for (uint32_t open = cta.open_barriers; open; open &= open - 1)
    check_barrier(cta, uint32_t(__builtin_ctz(open)));
  if (cta.live_warps == 0) finish_cta(cta);
}

void Machine::split(Warp& w, Group& g) {
  if (!policy.splits() || count_lanes(g.lanes) < 2) return;
  uint32_t how = policy.choose(schedule::Choice::split, 5), keep = 0;
  uint32_t count = count_lanes(g.lanes), seen = 0;
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(g.lanes >> i & 1)) continue;
    bool mine = how == 1   ? seen < count / 2
                : how == 2 ? seen % 2 == 0
                : how == 3 ? seen == 0
                : how == 4 ? seen + 1 < count
                           : true;
    if (mine) keep |= 1u << i;
    ++seen;
  }
  if (keep != g.lanes) part(*this, w, g, keep, g.pc);
}

void Machine::run_slice(Warp& w, Group& first, uint32_t points_allowed) {
  const Level& l = *vector_level;
  // Behind a point there is a split after the slice; the first one and those behind a barrier that
  // others complete have no such slice. (Behind a meet the group must stay together.)
  if (first.pc == program.functions[0].entry || program.ops[first.pc - 1].code == ir::OpCode::bar)
    split(w, first);
  w.group = &first;
  w.points_left = points_allowed;
  w.quantum_left = int32_t(options.quantum);
  w.points = 0;
  w.stored = w.stored_local = w.progressed = false;
  for (;;) {
    Group& g = *w.group;
    if (w.group_count == 1) g.joins.clear();
    bool full = g.lanes == kAllLanes;
    if (w.exec_bits != g.lanes) {
      w.exec_bits = g.lanes;
      for (int i = 0; i < 32; ++i) w.exec.v[i] = g.lanes >> i & 1 ? -1 : 0;
    }
    w.active_count = count_lanes(g.lanes);
    if (g.has_deposit) {
      w.deposit = *g.deposit;
      w.deposit_lanes = g.deposit_lanes;
      g.has_deposit = false;
    }
    w.code = code[full].data();
    const Exec* e = l.dispatch(w.code + g.pc, &w, w.regs());
    // A split moves the program counter itself; everything else stops where `e` stands.
    if (w.reason != Stop::diverged && w.reason != Stop::moved) g.pc = uint32_t(e - w.code);
    if (w.reason == Stop::diverged || w.reason == Stop::moved) {
      if (abort || g.state != GroupState::ready) break;
      continue;
    }
    if (w.reason == Stop::join) {
      set_state(w, g, GroupState::at_join);
      check_joins(w);
      if (g.state == GroupState::ready) continue;
    } else if (w.reason == Stop::exited) {
      exit_lanes(w, g.lanes);
    }
    break;
  }
  instructions += w.instructions;
  w.instructions = 0;
  points += w.points;
}

void Machine::after_slice(Warp& w, Group& g) {
  if (w.cta->finished) return;
  changed |= w.stored || w.progressed || w.stored_local;
  // An agent that came back able to go on and changed nothing may be waiting for somebody; so may
  // one that stands at a barrier: one thread polls for its CTA, and the others hear of it there. So
  // may one that has come to where the lanes of its warp join or meet: one of them polls for all.
  const bool stands = w.reason == Stop::barrier || w.reason == Stop::join || w.reason == Stop::meet;
  bool waits = (w.reason == Stop::quantum || w.reason == Stop::point || stands) && !w.stored &&
               !w.progressed;
  if (g.poll && !waits) g.poll->spinning = false, g.poll->turns = 0;
  bool spins = g.poll && g.poll->spinning;
  waits &= spins || !w.stored_local;
  uint64_t weight = spins ? kSpinWeight : w.reason == Stop::quantum ? kQuantumWeight : 1;
  stalled_agents = waits ? stalled_agents + weight : 0;
  g.stalled = waits ? g.stalled + 1 : 0;
  if (waits && !stands && (w.reason == Stop::quantum || g.stalled >= kVisits)) {
    release_joins(w);
    g.stalled = 0;
  }
  // A warp in one piece that waits has nothing to settle.
  if ((w.group_count > 1 || g.state == GroupState::at_join) &&
      (w.reason == Stop::barrier || w.reason == Stop::meet || w.reason == Stop::join ||
       w.reason == Stop::async)) {
    settle(w);
    if (w.reason == Stop::barrier && !abort) check_barrier_divergence(w);
  }
  if (w.reason == Stop::point && g.state == GroupState::ready) split(w, g);
}

bool Machine::admit() {
  uint32_t n = 0;
  for (const auto& m : stage.machines) n += m->admissible();
  if (!n) return false;
  uint32_t k = policy.choose(schedule::Choice::admit, n);
  if (k >= n) k = 0;
  for (const auto& m : stage.machines) {
    const uint32_t own = m->admissible();
    if (k < own) {
      m->start_cta(m->not_started.take(k));
      break;
    }
    k -= own;
  }
  stage.turns_since_admission = 0;
  return true;
}

// The resident CTAs wait: another one starts if there is room.
bool Machine::admit_stalled() {
  bool any = false;
  for (const auto& m : stage.machines) any |= m->admissible() != 0;
  if (!any) return false;
  note_residency();
  return admit();
}

// Lets the accesses that exploration holds back go on, since everyone else waits.
bool Machine::release_held() { return release_fence() || finish_late() || release_arms(); }

bool Machine::release_arms() {
  bool any = false;
  for (ArmState& a : arms) {
    if (!a.holding || a.released) continue;
    a.released = any = true;
    a.holding = false;
  }
  if (!any) return false;
  for (const auto& m : stage.machines)
    for (auto& cta : m->resident) {
      for (auto& w : cta->warps)
        for (Group& g : w->groups)
          if (g.state == GroupState::held) set_state(*w, g, GroupState::ready);
      for (auto& c : cta->copies)
        if (c->held) {
          c->held = false;
          offer(*cta, *c);
        }
    }
  return true;
}

// Who counts his turns, or takes a lock and gives it back, never waits; and yet it may be what is
// held back that he comes back for.
void Machine::end_long_waits(uint64_t turn) {
  constexpr uint64_t kPart = 8; // of the step budget, for accesses
  const bool holds =
      std::any_of(arms.begin(), arms.end(), [](const ArmState& a) { return a.holding; });
  if (!holds)
    stage.held_since = spent();
  else if (options.step_budget && spent() - stage.held_since > options.step_budget / kPart)
    release_arms();
  if (stage.late.empty() && stage.held_fences.empty())
    stage.late_since = turn;
  else if (turn - stage.late_since > std::max<uint64_t>(kPatience, 16 * runnable.size()) &&
           !release_fence())
    finish_late();
}

void Machine::run_agent(schedule::AgentId id, uint32_t allowed) {
  Cta* cta = table.find(id.cta);
  CHECK(cta);
  Machine& owner = *cta->warps.front()->machine;
  if (&owner != this) return owner.run_agent(id, allowed);
  if (id.unit >= schedule::kCopyUnit) {
    run_copy(*cta, id.unit - schedule::kCopyUnit);
    ++points;
    stalled_agents = 0;
  } else {
    Warp& w = *cta->warps[id.unit / 32];
    uint32_t lane = id.unit % 32;
    for (Group& g : w.groups)
      if (g.state == GroupState::ready && g.lanes >> lane & 1) {
        run_slice(w, g, allowed);
        after_slice(w, *w.group);
        break;
      }
  }
  if (cta->finished) retire(*cta);
}

uint64_t Machine::spent() const {
  uint64_t all = outcome.thread_instructions + kPointSteps * outcome.scheduling_points;
  for (const auto& m : stage.machines)
    all += m->instructions + kPointSteps * m->points + kAtomicSteps * m->atomic_lanes +
           kVainSteps * m->vain_polls;
  return all;
}

// Cancelled, out of memory, or the budget or the time spent? What other threads and the clock
// decide is looked at now and then only.
bool Machine::outside_limits(uint64_t turn) {
  EventKind kind = EventKind::budget;
  const char* what = nullptr;
  if (options.step_budget && spent() > options.step_budget) what = "the step budget is spent";
  if (turn % 64 == 0) {
    if (options.cancel && *options.cancel)
      kind = EventKind::cancelled, what = "the run was cancelled";
    else if (options.deadline > 0 && monotonic_seconds() > options.deadline)
      what = "the time is spent";
    else if (lost_accesses())
      return true;
  }
  if (!what) return false;
  outcome.events.push_back({kind, what, {}});
  return true;
}

// What the detector had no room for, nobody can judge.
bool Machine::lost_accesses() {
  if (!detector || !detector->overflowed()) return false;
  outcome.events.push_back({EventKind::out_of_memory, "the race detector's memory is full", {}});
  return true;
}

void Machine::run() {
  schedule::Launch all{launch_index};
  for (const auto& m : stage.machines) {
    all.ctas += m->total_ctas;
    all.warps_per_cta = std::max(all.warps_per_cta, m->warps_per_cta);
    all.residency = std::max(all.residency, m->resident_limit);
  }
  policy.begin(all);
  for (const auto& m : stage.machines)
    m->store_descending = policy.choose(schedule::Choice::store_winner, 2) == 1;
  admit();
  const bool admits_all = policy.admit_all();
  schedule::AgentId last{0xffffffff, 0xffffffff};
  uint64_t turns = 0;
  while (!abort) {
    if (outside_limits(++turns)) return;
    if (turns % 64 == 0) end_long_waits(turns);
    if (admits_all)
      while (admit()) {
      }
    bool all_stalled = stalled_agents > kStalled * runnable.size();
    if (runnable.empty() || all_stalled) {
      stalled_agents = 0;
      // First CTAs that have not started: what a held access waits for may be in one of them.
      if (admit_stalled() || demand_all() || release_held() || refuse_waits()) continue;
      if (runnable.empty()) {
        if (!lost_accesses() && live_ctas) deadlock();
        return;
      }
      if (hangs()) return report_hang();
      if (abort || runnable.empty()) continue;
    }
    size_t at = runnable.find(last);
    int index = at < runnable.size() ? int(at) : -1;
    schedule::Decision d = policy.pick(runnable.ids(), index);
    if (d.pick >= runnable.size()) {
      outcome.events.push_back(
          {EventKind::replay_mismatch,
           "the trace asks for an agent that cannot run: it belongs to another "
           "program, launch or version",
           {}});
      return;
    }
    uint32_t pick = spinning ? pass_over(d.pick) : d.pick;
    if (pick == runnable.size()) {
      // All poll in vain, perhaps for somebody who has not started yet.
      if (admit_stalled()) continue;
      pick = d.pick;
    }
    last = runnable.start(pick);
    run_agent(last, d.points);
    // Who polls under a lock changes memory for ever, and yet waits for those who have no turn.
    if (!stalled_agents && ++stage.turns_since_admission > kPatience && !admit())
      stage.turns_since_admission = 0;
  }
}

} // namespace assay::vgpu
