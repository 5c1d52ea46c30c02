// cp.async and cp.async.mbarrier.arrive: copies as agents of their own, commit groups, waits, and
// accesses held by exploration. Sources: PTX ISA 9.0, sections 9.7.9.25 and 9.7.13.15. A copy reads
// its source when the scheduler lets it run, anywhere between issue and the latest point that its
// wait allows. An arrival that follows copies can run once those of its instruction's lanes are
// complete.
#include "base/check.hpp"
#include "vgpu/guard.hpp"
#include "vgpu/reach.hpp"
#include "vgpu/stage.hpp"
#include "vgpu/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace assay::vgpu {

void Machine::copy_issue(Warp& w, uint32_t pc, const ir::Op& op, char* regs, uint32_t active) {
  const ir::MemInfo& info = program.mem[op.c];
  Cta& cta = *w.cta;
  auto copy = std::make_unique<Copy>();
  copy->seq = cta.next_copy++;
  copy->warp = w.index;
  copy->pc = pc;
  copy->lanes = active;
  copy->bytes = info.cp_bytes;
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(active >> i & 1)) continue;
    uint64_t to = lane_address(op, info, regs, i, *w.group);
    uint64_t from =
        uint64_t(int64_t(info.offset2)) +
        (info.address64_2 ? lanes<uint64_t>(regs, op.b).v[i] : lanes<uint32_t>(regs, op.b).v[i]);
    uint32_t n =
        info.src_size == ir::kNoSlot ? info.cp_bytes : lanes<uint32_t>(regs, info.src_size).v[i];
    if (info.ignore_src != ir::kNoSlot && lanes<int32_t>(regs, info.ignore_src).v[i]) n = 0;
    if (hash_path) path(to), path(from), path(n);
    if (n > info.cp_bytes) { // 9.7.9.25.3.1: undefined behaviour
      fault(w, pc, i, EventKind::illegal_operation,
            fmt::format("cp.async: a source size of {} bytes is more than the {} that are copied",
                        n, info.cp_bytes));
      return;
    }
    copy->destination[i] = to;
    copy->source[i] = from;
    copy->source_bytes[i] = uint8_t(n);
    copy->group[i] = w.copy_group[i];
    // Faults are reported at the instruction that asks for the copy.
    if (!resolve(w, pc, i, ptx::Space::shared, to, info.cp_bytes, info.cp_bytes, true, "cp.async")
             .region)
      return;
    if (n &&
        !resolve(w, pc, i, ptx::Space::global, from, n, info.cp_bytes, false, "cp.async").region)
      return;
    if (detector) detector->copy_issue(agent(w), i, race::kCopyAgent + copy->seq * 32 + i);
  }
  if (arrivals_follow_copies) w.untracked.push_back({copy->seq, active});
  begin_copy(w, std::move(copy));
}

void Machine::copy_arrive(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  constexpr uint32_t kMostPending = (1 << 20) - 1;
  Cta& cta = *w.cta;
  uint64_t offset[32];
  if (!mbarrier_places(w, pc, op, regs, "cp.async.mbarrier.arrive", offset)) return;
  auto copy = std::make_unique<Copy>();
  copy->seq = cta.next_copy++;
  copy->warp = w.index;
  copy->pc = pc;
  copy->lanes = w.exec_bits;
  copy->arrives = true;
  copy->counted = op.flags & ir::kNoIncrement;
  observe_mbarrier(agent(w), pc, copy->lanes, offset);
  for (uint32_t i = 0; i < 32; ++i) {
    if (!(copy->lanes >> i & 1)) continue;
    auto at = uint32_t(offset[i]);
    copy->destination[i] = at;
    MbarrierObject* b = live_mbarrier(w, pc, i, at, "cp.async.mbarrier.arrive");
    if (!b) return;
    if (!copy->counted && ++b->pending > kMostPending) {
      fault(w, pc, i, EventKind::illegal_operation,
            "cp.async.mbarrier.arrive: more arrivals are pending than an mbarrier can count", true,
            "shared memory", at);
      return;
    }
    if (!detector) continue;
    if (!copy->counted) detector->mbarrier_expect(agent(w), i, at);
    std::vector<uint32_t> tracked;
    for (Warp::Untracked& u : w.untracked)
      if (u.lanes >> i & 1) tracked.push_back(u.seq * 32 + i);
    uint32_t self = race::kCopyAgent + copy->seq * 32 + i;
    detector->copy_issue(agent(w), i, self);
    detector->copy_arrives(agent(w), i, self, tracked);
  }
  for (Warp::Untracked& u : w.untracked) u.lanes &= ~copy->lanes;
  std::erase_if(w.untracked, [](const Warp::Untracked& u) { return !u.lanes; });
  for (auto& c : cta.copies)
    if (!c->arrives && c->warp == w.index && c->lanes & copy->lanes) {
      c->followers.push_back(copy->seq);
      ++copy->waits_for;
    }
  changed = true;
  begin_copy(w, std::move(copy));
}

void Machine::begin_copy(Warp& w, std::unique_ptr<Copy> copy) {
  Cta& cta = *w.cta;
  for (ArmState& a : arms)
    if (!a.released && a.arm.first.agent.cta == cta.index &&
        a.arm.first.agent.warp >= race::kCopyAgent &&
        (a.arm.first.agent.warp - race::kCopyAgent) / 32 == copy->seq)
      a.holding = copy->held = true;
  copy->demanded = copies_when != schedule::Copies::on_demand;
  const Copy& c = *cta.copies.emplace_back(std::move(copy));
  offer(cta, c);
  if (copies_when == schedule::Copies::at_issue && !c.held && !c.waits_for) run_copy(cta, c.seq);
}

void Machine::offer(Cta& cta, const Copy& copy) {
  if (!copy.held && copy.demanded && !copy.waits_for)
    runnable.insert({cta.index, schedule::kCopyUnit + copy.seq});
}

// Somebody waits for the copy, and so for those that it follows.
void Machine::demand(Cta& cta, Copy& copy) {
  if (copy.demanded) return;
  copy.demanded = true;
  offer(cta, copy);
  if (!copy.waits_for) return;
  for (auto& c : cta.copies)
    if (std::find(c->followers.begin(), c->followers.end(), copy.seq) != c->followers.end())
      demand(cta, *c);
}

// Nobody can run, or all who can wait for somebody: copies that no wait has asked for are let go.
bool Machine::demand_all() {
  bool any = false;
  if (copies_when != schedule::Copies::on_demand) return false;
  for (const auto& m : stage.machines)
    for (auto& cta : m->resident)
      for (auto& c : cta->copies) {
        any |= !c->demanded;
        demand(*cta, *c);
      }
  return any;
}

void Machine::perform_access(Cta& cta, Copy& copy, uint32_t i) {
  Warp& w = *cta.warps[copy.warp];
  uint8_t value[16] = {};
  uint32_t n = copy.source_bytes[i];
  race::Agent self{cta.index, race::kCopyAgent + copy.seq * 32 + i};
  race::AccessInfo access;
  access.pc = copy.pc;
  if (n) {
    Resolved from =
        resolve(w, copy.pc, i, ptx::Space::global, copy.source[i], n, 1, false, "cp.async");
    if (!from.region) return;
    std::memcpy(value, from.region->host + from.offset, n);
    if (from.region->init && options.check_init && !init_test(from.region->init, from.offset, n))
      uninitialised(w, copy.pc, i, from.region, from.offset, value, n);
    access.bytes = uint8_t(n);
    uint64_t address[32];
    address[i] = from.region->base + from.offset;
    if (detector && from.region->tracked)
      detector->access(race::Space::global, self, 1u << i, address, access, nullptr, 0, 0);
  }
  Resolved to = resolve(w, copy.pc, i, ptx::Space::shared, copy.destination[i], copy.bytes, 1, true,
                        "cp.async");
  if (!to.region) return;
  access.write = true;
  access.read = false;
  access.bytes = copy.bytes;
  uint64_t address[32];
  address[i] = to.offset;
  uint8_t values[32][16];
  std::memcpy(values[i], value, 16);
  bool silent = !std::memcmp(to.region->host + to.offset, value, copy.bytes);
  if (detector)
    detector->access(race::Space::shared, self, 1u << i, address, access, values, 16,
                     silent ? 1u << i : 0);
  std::memcpy(to.region->host + to.offset, value, copy.bytes);
  if (to.region->init) init_set(to.region->init, to.offset, copy.bytes);
}

void Machine::perform_copy(Cta& cta, Copy& copy) {
  Warp& w = *cta.warps[copy.warp];
  if (options.watch && options.watch->launch() == launch_index)
    options.watch->copied(cta.index, copy.seq, copy.pc, copy.lanes);
  for (uint32_t i = 0; i < 32 && !abort; ++i) {
    if (!(copy.lanes >> i & 1)) continue;
    if (!copy.arrives) {
      perform_access(cta, copy, i);
      continue;
    }
    // Its access to the object was its issuer's; whoever ends the object too early is noticed here.
    auto at = uint32_t(copy.destination[i]);
    uint32_t self = race::kCopyAgent + copy.seq * 32 + i;
    if (!live_mbarrier(w, copy.pc, i, at, "the arrival after cp.async")) return;
    if (detector) detector->mbarrier_copy_arrived(cta.index, self, at, copy.counted);
    if (arrive_at(w, copy.pc, i, at, 1, 0)) complete_phase(cta, at);
  }
  changed = true;
}

void Machine::run_copy(Cta& cta, uint32_t seq) {
  auto at = std::find_if(cta.copies.begin(), cta.copies.end(),
                         [&](const auto& c) { return c->seq == seq; });
  CHECK(at != cta.copies.end());
  runnable.erase({cta.index, schedule::kCopyUnit + seq});
  std::unique_ptr<Copy> copy = std::move(*at);
  cta.copies.erase(at);
  perform_copy(cta, *copy);
  bool let_go = false;
  for (ArmState& a : arms)
    if (a.holding && a.arm.second.agent.cta == cta.index &&
        a.arm.second.agent.warp >= race::kCopyAgent &&
        (a.arm.second.agent.warp - race::kCopyAgent) / 32 == seq)
      a.second_done = let_go = true;
  if (let_go) second_has_run();
  if (!copy->arrives) {
    DoneCopy& done = cta.done_copies.emplace_back(DoneCopy{seq, copy->warp, copy->lanes, {}});
    std::memcpy(done.group, copy->group, sizeof done.group);
  }
  for (uint32_t follower : copy->followers)
    for (auto& c : cta.copies)
      if (c->seq == follower && --c->waits_for == 0) {
        offer(cta, *c);
        if (copies_when == schedule::Copies::at_issue && !c->held) {
          run_copy(cta, follower);
          break; // the list has changed
        }
      }
  wake_async(*cta.warps[copy->warp]);
}

namespace {
// Whether lane i has to wait for `copy` at cp_async_wait with this N.
template <class C> bool needed(const C& copy, const Warp& w, uint32_t i, uint64_t n) {
  if (!(copy.lanes >> i & 1)) return false;
  if (n == ir::kNoIndex) return true; // wait_all: committed or not
  return uint64_t(copy.group[i]) + n < w.copy_group[i];
}
template <class C> bool needed(const C& copy, const Warp& w, const Group& g, uint64_t n) {
  for (uint32_t i = 0; i < 32; ++i)
    if (g.lanes >> i & 1 && needed(copy, w, i, n)) return true;
  return false;
}
} // namespace

bool Machine::copy_wait(Warp& w, const ir::Op& op) {
  Cta& cta = *w.cta;
  Group& g = *w.group;
  bool waits = false;
  for (auto& c : cta.copies)
    if (!c->arrives && c->warp == w.index && needed(*c, w, g, op.imm)) {
      waits = true;
      demand(cta, *c);
    }
  if (waits) {
    set_state(w, g, GroupState::at_async);
    return false;
  }
  for (DoneCopy& c : cta.done_copies) {
    if (c.warp != w.index) continue;
    for (uint32_t i = 0; i < 32; ++i)
      if (g.lanes >> i & 1 && needed(c, w, i, op.imm)) {
        if (detector) detector->copy_joined(agent(w), i, race::kCopyAgent + c.seq * 32 + i);
        c.lanes &= ~(1u << i); // joined once
      }
  }
  std::erase_if(cta.done_copies, [](const DoneCopy& c) { return !c.lanes; });
  return true;
}

void Machine::wake_async(Warp& w) {
  // A woken group executes its wait again and may wait on.
  for (Group& g : w.groups)
    if (g.state == GroupState::at_async) set_state(w, g, GroupState::ready);
}

// Lets the first access of a pair go on, and no other one that is held.
static void let_go(Machine& m, ArmState& a) {
  a.holding = false;
  a.released = true;
  const race::Agent& agent = a.arm.first.agent;
  Cta* cta = m.table.find(agent.cta);
  if (!cta) return; // ended, and its copies with it
  if (agent.warp < race::kCopyAgent) {
    Warp& w = *cta->warps[agent.warp];
    for (Group& g : w.groups)
      if (g.state == GroupState::held && g.lanes >> a.arm.first.lane & 1)
        m.set_state(w, g, GroupState::ready);
    return;
  }
  const uint32_t seq = (agent.warp - race::kCopyAgent) / 32;
  for (const ArmState& o : m.arms) { // does another pair hold the same copy?
    const race::Agent& other = o.arm.first.agent;
    if (o.holding && other.cta == agent.cta && other.warp >= race::kCopyAgent &&
        (other.warp - race::kCopyAgent) / 32 == seq)
      return;
  }
  for (auto& c : cta->copies)
    if (c->held && c->seq == seq) {
      c->held = false;
      m.offer(*cta, *c);
    }
}

// The fence that a writer comes to before its write has been missed waits; so may others, if the
// policy says so.
bool Machine::holds_fence(Warp& w, uint32_t pc) {
  const ir::Op& op = program.ops[pc];
  if (!is_fence_sc(op)) return false;
  const bool wide = race::Scope(op.imm >> 8 & 255) >= race::Scope::gpu;
  for (ArmState& a : arms) {
    const race::Side& s = a.arm.first;
    if (!a.arm.holds_fence || (!wide && s.agent.cta != a.arm.second.agent.cta)) continue;
    if (!a.written || a.second_done || a.released || s.agent != agent(w) ||
        !(w.exec_bits >> s.lane & 1))
      continue;
    // Where both lanes execute it, their turns decide (fences.hpp).
    const race::Side& second = a.arm.second;
    if (second.agent == s.agent && w.exec_bits >> second.lane & 1) continue;
    a.holding = true;
    w.group->pc = pc;
    set_state(w, *w.group, GroupState::held);
    return true;
  }
  constexpr uint32_t kMostDelays = 32; // each waits until all others do
  if (!policy.delays_fences() || (!wide && (total_ctas > 1 || !stage.alone())) ||
      std::exchange(w.group->fence_waited, false) || stage.delayed_fences >= kMostDelays ||
      policy.choose(schedule::Choice::delay, 2) == 0)
    return false;
  ++stage.delayed_fences;
  stage.held_fences.push_back({w.cta->index, w.index, w.group->lanes});
  w.group->fence_waited = true;
  w.group->pc = pc;
  set_state(w, *w.group, GroupState::held);
  return true;
}

// The fence that was reached last goes first.
bool Machine::release_fence() {
  while (!stage.held_fences.empty()) {
    const HeldFence f = stage.held_fences.back();
    stage.held_fences.pop_back();
    Cta* cta = table.find(f.cta);
    if (!cta) continue;
    for (Group& g : cta->warps[f.warp]->groups)
      if (g.state == GroupState::held && g.fence_waited && g.lanes == f.lanes) {
        set_state(*cta->warps[f.warp], g, GroupState::ready);
        return true;
      }
  }
  return false;
}

void Machine::missed(ArmState& a) {
  outcome.arms_reversed = a.second_done = true;
  if (a.holding) let_go(*this, a);
}

// Of several pairs, each after the one before, the last tells whether all were turned round. What
// another pair holds stays: its second access is still to come.
void Machine::second_has_run() {
  outcome.arms_reversed =
      std::all_of(arms.begin(), arms.end(), [](const ArmState& a) { return a.second_done; });
  for (ArmState& a : arms)
    if (a.holding && a.second_done) let_go(*this, a);
}

bool Machine::armed(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  using C = ir::OpCode;
  if (options.reach && lanes_that_hold(op, regs, w.exec_bits))
    options.reach->executed(launch_index, pc);
  bool memory_op = op.code == C::ld || op.code == C::st || op.code == C::atom ||
                   op.code == C::red ||
                   (op.code >= C::mbarrier_init && op.code <= C::mbarrier_wait);
  if (!detector) return false;
  if (op.code == C::fence && holds_fence(w, pc)) return true;
  if (!stage.put_off.empty() && op.code != C::fence && ends_put_off(program, pc))
    perform_put_off(stage, w, w.exec_bits);
  auto goes_on = [&] {
    if (!stage.late.empty() && finds_late(op.code)) look_for_late(w, pc, op, regs);
    if (options.watch && options.watch->launch() == launch_index)
      watch(*options.watch, *this, w, pc, op, regs);
  };
  if (!memory_op || arms.empty()) {
    goes_on();
    return false;
  }
  const ir::MemInfo& info = program.mem[op.c];
  uint32_t bytes = uint32_t(info.bytes) * info.vector;
  auto matches = [&](const race::Side& side, const Arm& arm) {
    if (side.info.pc != pc || side.agent.cta != w.cta->index || side.agent.warp != w.index)
      return false;
    if (!(w.exec_bits >> side.lane & 1)) return false;
    if (side.time != kAnyTime && detector->time(agent(w), side.lane) != side.time) return false;
    if (arm.address == kAnyAddress) return true;
    uint64_t a = lane_address(op, info, regs, side.lane, *w.group);
    if (arm.space == race::Space::shared) a = ir::offset_of(a);
    // The address of a conflict is the first byte that both access: a neighbour is another pair.
    return a <= arm.address && arm.address < a + bytes;
  };
  bool is_second = false;
  for (ArmState& a : arms) {
    if (a.arm.missed && matches(a.arm.first, a.arm)) a.written = true;
    if (a.released || a.arm.missed || a.arm.late) continue;
    if (!a.holding && !is_second && matches(a.arm.first, a.arm)) {
      Group& g = *w.group;
      uint32_t lane = 1u << a.arm.first.lane;
      a.holding = true;
      g.pc = pc;
      if (g.lanes != lane) {
        // Only the racing lane is held; the others of its group go on.
        diverge(w, g.lanes & ~lane, pc, pc, ir::kNoIndex);
        for (Group& o : w.groups)
          if (o.state == GroupState::ready && o.lanes == lane) set_state(w, o, GroupState::held);
      } else {
        set_state(w, g, GroupState::held);
      }
      return true;
    }
    if (a.holding && matches(a.arm.second, a.arm)) a.second_done = is_second = true;
  }
  goes_on();
  // The second access happens now, before anybody else can run; then the first may go on.
  if (is_second) second_has_run();
  return false;
}

} // namespace assay::vgpu
