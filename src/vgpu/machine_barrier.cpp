// CTA barriers: bar and barrier in every form. Source: PTX ISA 9.0, section 9.7.13.1; what counts
// as a defect: docs/concurrency.md, "Lanes, convergence, barriers, exit".
#include "base/check.hpp"
#include "vgpu/frames.hpp"
#include "vgpu/stage.hpp"
#include "vgpu/watch.hpp"

#include <fmt/format.h>

namespace assay::vgpu {

// Which barrier, and for how many threads (0: all); a group whose lanes disagree parts first, and
// the first lane's go on.
uint32_t Machine::barrier_number(Warp& w, uint32_t pc, const Exec* e, char* regs, uint32_t& count) {
  const Group& g = *w.group;
  const uint32_t first = uint32_t(__builtin_ctz(g.lanes)), known = uint32_t(e->op.imm >> 32);
  const bool counted = e->op.b != SlotPlace::none;
  if (known && !counted) return known - 1;
  const auto& number = lanes<uint32_t>(regs, e->op.a);
  const auto& counts = counted ? lanes<uint32_t>(regs, e->op.b) : number;
  const uint32_t id = number.v[first], threads_named = counts.v[first];
  uint32_t same = 0;
  for (uint32_t i = 0; i < 32; ++i)
    if (g.lanes >> i & 1 && number.v[i] == id && counts.v[i] == threads_named) same |= 1u << i;
  if (same != g.lanes) diverge(w, same, pc, pc, ir::kNoIndex);
  if (counted) count = threads_named;
  return id;
}

// Participants of one phase must agree on what it is.
bool Machine::agrees(const Barrier& b, const Warp& w, uint32_t pc, uint32_t id, uint32_t count) {
  const ir::Op& op = program.ops[pc];
  bool mixed = op.imm != 1 && b.kind != (op.imm >= 2 ? op.imm : 0);
  if (!mixed && b.counted == (op.b != ir::kNoSlot) && b.expected == count) return true;
  std::vector<Place> places;
  for (const Barrier::Site& s : b.sites)
    if (places.size() < 4)
      places.push_back(
          place(*w.cta->warps[s.warp], s.pc, uint32_t(__builtin_ctz(s.lanes)), "arrived"));
  places.push_back(place(w, pc, uint32_t(__builtin_ctz(w.group->lanes)), "arrives"));
  outcome.events.push_back(
      {EventKind::barrier_divergence,
       mixed ? fmt::format("barrier {}: reductions and other operations meet in one phase", id)
             : fmt::format("barrier {}: participants disagree on the number of threads ({} and {})",
                           id, b.expected, count),
       std::move(places)});
  abort = true;
  return false;
}

// Each arrival adds to the count, so that a phase could complete without others that it shall wait
// for: nobody means that.
bool Machine::arrives_once(const Barrier& b, const Warp& w, uint32_t pc, uint32_t id) {
  const uint32_t again = b.arrived[w.index] & w.group->lanes;
  if (!again) return true;
  std::vector<Place> places;
  for (const Barrier::Site& s : b.sites)
    if (s.warp == w.index && s.lanes & again && places.empty())
      places.push_back(place(w, s.pc, uint32_t(__builtin_ctz(s.lanes & again)), "arrived"));
  places.push_back(place(w, pc, uint32_t(__builtin_ctz(again)), "arrives again"));
  outcome.events.push_back(
      {EventKind::barrier_divergence,
       fmt::format(
           "a warp arrives at barrier {} twice in one phase, which may then complete without "
           "others",
           id),
       std::move(places)});
  abort = true;
  return false;
}

// Nearly every arrival: neither the first nor the last of its phase, at the same plain barrier as
// the first. Only what the others do not say already is written down.
bool Machine::arrives_with_others(Warp& w, const Exec* e) {
  const uint32_t known = uint32_t(e->op.imm >> 32);
  if (!known || uint32_t(e->op.imm) != 0) return false;
  Cta& cta = *w.cta;
  Barrier& b = cta.barriers[known - 1];
  Group& g = *w.group;
  const uint32_t pc = uint32_t(e - w.code);
  if (!b.open || b.counted || cta.arrived_only >> (known - 1) & 1 || b.kind || b.arrived[w.index] ||
      e->op.b != SlotPlace::none || b.sites.front().pc != pc ||
      b.arrivals + w.active_count >= cta.live_lanes)
    return false;
  b.arrivals += w.active_count;
  ++b.warps;
  b.arrived[w.index] = b.acquiring[w.index] = g.lanes;
  g.pc = pc;
  g.barrier = known - 1;
  set_state(w, g, GroupState::at_barrier);
  return true;
}

// Where more warps than its count admits use a barrier, or different counts, the schedule decides
// who meets whom.
void Machine::note_partners(Cta& cta, uint32_t id, uint32_t warp, uint32_t count) {
  Cta::CountedUse& use = cta.counted[id];
  if (count) {
    use.warps |= 1u << warp;
    partners_vary |= (use.threads && use.threads != count) || count_lanes(use.warps) * 32 > count;
    use.threads = count;
  } else {
    cta.used_plainly |= 1u << id;
  }
  partners_vary |= (cta.used_plainly >> id & 1) && use.threads && use.threads < warps_per_cta * 32;
}

bool Machine::barrier_arrive(Warp& w, const Exec* e, char* regs) {
  if (arrives_with_others(w, e)) return false;
  const uint32_t pc = uint32_t(e - w.code), kind = uint32_t(e->op.imm); // 1: arrive, from 2: red
  Group& g = *w.group;
  g.pc = pc;
  uint32_t count = 0;
  const uint32_t id = barrier_number(w, pc, e, regs, count);
  const uint32_t first = uint32_t(__builtin_ctz(g.lanes));
  const bool counted = e->op.b != SlotPlace::none;
  if (id >= w.cta->barriers.size() || (counted && (count == 0 || count % 32))) {
    fault(w, pc, first, EventKind::illegal_operation,
          id >= 16 ? fmt::format("barrier {} does not exist (0 to 15 do)", id)
                   : fmt::format("barrier count {} is not a positive multiple of 32", count));
    return false;
  }
  Barrier& b = w.cta->barriers[id];
  if (!b.open) {
    b.begin(warps_per_cta, counted, count);
    w.cta->open_barriers |= 1u << id;
  }
  if (b.kind == 0xff && kind != 1) b.kind = uint8_t(kind);
  if (!agrees(b, w, pc, id, count) || !arrives_once(b, w, pc, id)) return false;
  note_partners(*w.cta, id, w.index, count);
  w.cta->arrived_only |= uint32_t(kind == 1) << id;
  if (detector && w.cta->arrived_only >> id & 1) detector->arrives_again(agent(w), g.lanes, id);
  b.sites.push_back({pc, w.index, g.lanes});
  b.arrivals += count_lanes(g.lanes & ~b.arrived[w.index]);
  b.warps += b.arrived[w.index] == 0;
  b.arrived[w.index] |= g.lanes;
  if (kind >= 2) {
    const auto& p = lanes<int32_t>(regs, e->op.c);
    for (uint32_t i = 0; i < 32; ++i)
      if (g.lanes >> i & 1) b.reduce((p.v[i] != 0) != ((e->op.flags & ir::kNegate) != 0));
  }
  if (kind == 1) { // arrive: goes on at once
    if (detector) detector->arrived(agent(w), g.lanes, id);
    g.pc = pc + 1;
  } else {
    b.acquiring[w.index] |= g.lanes;
    g.barrier = id;
    set_state(w, g, GroupState::at_barrier);
  }
  // Most arrivals are not the last one: what is necessary is counted.
  if (b.counted ? b.warps * 32 >= b.expected : b.arrivals >= w.cta->live_lanes)
    check_barrier(*w.cta, id);
  return w.group->state == GroupState::ready;
}

void Machine::check_barrier(Cta& cta, uint32_t number) {
  Barrier& b = cta.barriers[number];
  if (!b.open || abort) return;
  uint32_t threads_arrived = 0;
  bool all = true;
  for (uint32_t i = 0; i < warps_per_cta; ++i) {
    uint32_t live = cta.warps[i]->live;
    bool whole = (live & ~b.arrived[i]) == 0;
    if (!whole) all = false;
    if (whole && b.arrived[i]) threads_arrived += 32;
  }
  if (b.counted ? threads_arrived >= b.expected : all) complete_barrier(cta, number);
}

// Whether `to` can be reached from behind `from` without a back edge.
bool Machine::reaches_forward(uint32_t from, uint32_t to) const {
  std::vector<bool> seen(program.ops.size());
  std::vector<uint32_t> work = {from + 1};
  auto push = [&](uint64_t pc, uint32_t at) {
    if (pc > at && pc < seen.size() && !seen[pc]) {
      seen[pc] = true;
      work.push_back(uint32_t(pc));
    }
  };
  while (!work.empty()) {
    uint32_t pc = work.back();
    work.pop_back();
    for (; pc < program.ops.size(); ++pc) {
      if (pc == to) return true;
      const ir::Op& op = program.ops[pc];
      using C = ir::OpCode;
      if (op.code == C::exit || op.code == C::ret || op.code == C::trap) break;
      if (op.code == C::jump || op.code == C::branch) push(uint32_t(op.imm), pc);
      if (op.code == C::brx)
        for (uint32_t t : program.tables[op.imm].targets) push(t, pc);
      if (op.code == C::jump || op.code == C::brx) break;
    }
  }
  return false;
}

void Machine::complete_barrier(Cta& cta, uint32_t number) {
  Barrier& b = completed;
  std::swap(b, cta.barriers[number]);
  cta.barriers[number].open = false;
  cta.open_barriers &= ~(1u << number);
  if (!b.counted)
    for (const Barrier::Site& s : b.sites) {
      const Barrier::Site& f = b.sites.front();
      if (s.pc == f.pc || !(reaches_forward(s.pc, f.pc) || reaches_forward(f.pc, s.pc))) continue;
      outcome.events.push_back(
          {EventKind::barrier_divergence,
           fmt::format(
               "one phase of barrier {} is made of two barrier instructions of which one follows "
               "the other: some warps are a barrier ahead",
               number),
           {place(*cta.warps[f.warp], f.pc, uint32_t(__builtin_ctz(f.lanes)), "arrived"),
            place(*cta.warps[s.warp], s.pc, uint32_t(__builtin_ctz(s.lanes)), "arrived")}});
      abort = true;
      return;
    }
  if (float_sums && !b.counted)
    float_sums->settle(cta.shared.host, cta.shared.host + cta.shared.size);
  // Shared memory that has been written to the last byte needs no more tests.
  if (cta.shared.init && all_set(cta.shared.init, cta.shared.size)) cta.shared.init = nullptr;
  phase.cta = cta.index;
  phase.number = number;
  phase.exited.assign(warps_per_cta, 0);
  bool by_exit = false;
  for (uint32_t i = 0; i < warps_per_cta && cta.live_lanes < threads; ++i) {
    if (b.counted && !b.arrived[i]) continue; // takes no part
    uint32_t count = std::min(32u, threads - i * 32),
             born = count == 32 ? kAllLanes : (1u << count) - 1;
    phase.exited[i] = born & ~cta.warps[i]->live & ~b.arrived[i];
    by_exit |= phase.exited[i] != 0;
  }
  if (by_exit) {
    const Barrier::Site& s = b.sites.front();
    note("released-by-exit",
         fmt::format("a phase of barrier {} completed because threads had exited", number),
         place(*cta.warps[s.warp], s.pc, uint32_t(__builtin_ctz(s.lanes)), "waited"));
  }
  if (options.watch && options.watch->launch() == launch_index)
    options.watch->barrier(cta.index, number, b.arrived);
  if (detector) {
    std::swap(phase.arrived, b.arrived);
    std::swap(phase.acquiring, b.acquiring);
    detector->barrier(phase);
  }
  for (auto& w : cta.warps) {
    Group& only = w->groups.front();
    if (w->group_count == 1 && only.state == GroupState::at_barrier && only.barrier == number &&
        b.kind < 2) {
      only.bypassed = false;
      only.pc += 1;
      set_state(*w, only, GroupState::ready);
      continue;
    }
    Group* merged = nullptr;
    for (Group& g : w->groups) {
      if (g.state != GroupState::at_barrier || g.barrier != number) continue;
      const ir::Op& op = program.ops[g.pc];
      if (op.imm >= 2) {
        char* regs = reinterpret_cast<char*>(w->registers.data()) + g.regs_base * 128u;
        for (uint32_t i = 0; i < 32; ++i)
          if (g.lanes >> i & 1)
            lanes<uint32_t>(regs, op.d).v[i] = op.imm == 2   ? b.red_count
                                               : op.imm == 3 ? (b.red_and ? ~0u : 0u)
                                                             : (b.red_or ? ~0u : 0u);
      }
      g.bypassed = false;
      if (merged && merged->pc == g.pc + 1 && same_frames(*merged, g)) {
        bool running = w->group == &g;
        merge(*w, *merged, g);
        if (running) w->group = merged;
        continue;
      }
      g.pc += 1;
      set_state(*w, g, GroupState::ready);
      merged = &g;
    }
  }
}

// Two parts of one warp that wait at different .aligned barrier instructions can never both be
// right.
void Machine::check_barrier_divergence(Warp& w) {
  if (w.group_count < 2) return;
  const Group* first = nullptr;
  for (const Group& g : w.groups) {
    if (g.state != GroupState::at_barrier || !(program.ops[g.pc].flags & ir::kAligned)) continue;
    if (first && first->pc != g.pc) {
      outcome.events.push_back(
          {EventKind::barrier_divergence,
           "lanes of one warp wait at two different barrier instructions",
           {place(w, first->pc, uint32_t(__builtin_ctz(first->lanes)), waits_for(w, *first)),
            place(w, g.pc, uint32_t(__builtin_ctz(g.lanes)), waits_for(w, g))}});
      abort = true;
      return;
    }
    first = &g;
  }
}

std::string Machine::waits_for(const Warp& w, const Group& g) const {
  switch (g.state) {
  case GroupState::at_barrier: {
    const Barrier& b = w.cta->barriers[g.barrier];
    uint32_t there = 0;
    for (uint32_t lanes : b.arrived) there += count_lanes(lanes);
    return fmt::format("waits at barrier {} ({} of {} threads have arrived)", g.barrier, there,
                       b.counted ? b.expected : threads);
  }
  case GroupState::at_meet: {
    uint32_t there = 0;
    for (const Group& o : w.groups)
      if (o.state == GroupState::at_meet && o.meet_key == g.meet_key && o.meet_mask == g.meet_mask)
        there |= o.lanes;
    return fmt::format("waits for lanes {:#010x} of its warp",
                       (g.meet_mask ? g.meet_mask : kAllLanes) & w.live & ~there);
  }
  case GroupState::at_join: return "waits for its warp to reconverge";
  case GroupState::at_async:
    return program.ops[g.pc].code == ir::OpCode::grid_dependents
               ? "waits for the launch that its own depends on to end"
               : "waits for asynchronous copies";
  case GroupState::at_mbarrier: {
    auto it = w.cta->mbarriers.find(g.mbarrier);
    if (it == w.cta->mbarriers.end()) return "waits for an mbarrier that is no more";
    const MbarrierObject& b = it->second;
    std::string tx = b.tx ? fmt::format(", {} bytes", b.tx) : std::string();
    return fmt::format("waits for phase {} of the mbarrier at shared byte {} ({} of {} arrivals{} "
                       "are missing)",
                       b.phase, g.mbarrier, b.pending, b.expected, tx);
  }
  default: return "can run";
  }
}

void Machine::deadlock() {
  Event event{EventKind::deadlock, "no thread can go on: each waits for another", {}};
  uint32_t waiting = 0;
  for (const auto& m : stage.machines)
    for (auto& cta : m->resident)
      for (auto& w : cta->warps)
        for (Group& g : w->groups) {
          if (g.state == GroupState::dead) continue;
          ++waiting;
          if (event.places.size() < 64)
            event.places.push_back(
                m->place(*w, g.pc, uint32_t(__builtin_ctz(g.lanes)), m->waits_for(*w, g)));
        }
  event.message = fmt::format("{} group{} of threads wait and nothing can run: a deadlock", waiting,
                              waiting == 1 ? "" : "s");
  event.starved = without_room() != 0;
  outcome.events.push_back(std::move(event));
  abort = true;
}

} // namespace assay::vgpu
