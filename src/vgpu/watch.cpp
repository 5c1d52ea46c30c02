// The record that a watched run leaves; see watch.hpp.
#include "vgpu/watch.hpp"

#include "vgpu/guard.hpp"
#include "vgpu/machine.hpp"

#include <algorithm>

namespace assay::vgpu {

namespace {

bool orders(const ir::Program& program, const ir::Op& op) {
  using C = ir::OpCode;
  switch (op.code) {
  case C::bar:
  case C::fence:
  case C::atom:
  case C::red:
  case C::bar_warp_sync:
  case C::cp_async:
  case C::cp_async_commit:
  case C::cp_async_wait:
  case C::cp_async_arrive:
  case C::mbarrier_arrive:
  case C::mbarrier_tx:
  case C::mbarrier_wait:
  case C::mbarrier_inval: return true;
  case C::ld:
  case C::st: return program.mem[op.c].semantics != ir::Semantics::weak;
  default: return false;
  }
}

// Operations before which a warp without points left stops, to come back later.
bool is_point(const ir::Program& program, const ir::Op& op) {
  using C = ir::OpCode;
  return orders(program, op) && op.code != C::bar_warp_sync && op.code != C::cp_async_commit;
}

bool accesses_memory(ir::OpCode code) {
  using C = ir::OpCode;
  return code == C::ld || code == C::st || code == C::atom || code == C::red;
}

bool is_mbarrier(ir::OpCode code) {
  using C = ir::OpCode;
  return code == C::cp_async_arrive || code == C::mbarrier_arrive || code == C::mbarrier_tx ||
         code == C::mbarrier_wait || code == C::mbarrier_inval;
}

} // namespace

bool Watch::watches(const ir::Program& program, uint32_t pc) const {
  if (pc == conflict_.first.info.pc || pc == conflict_.second.info.pc) return true;
  return orders(program, program.ops[pc]);
}

void Watch::begin() {
  steps_.clear();
  now_ = since_ = phases_ = seen_ = 0;
}

void Watch::step(WatchedStep step) {
  step.when = ++now_;
  seen_ |= step.access;
  if (seen_ == 3 && ++since_ > kAfter) enough_ = true;
  if (enough_ || steps_.size() >= kMost) return;
  if (!seen_ && steps_.size() >= kMostBefore) steps_.pop_front();
  // Polling repeats one operation; it is told once.
  for (size_t back = 0; back < std::min<size_t>(steps_.size(), 64) && !step.access; ++back) {
    WatchedStep& last = steps_[steps_.size() - 1 - back];
    if (last.agent.cta != step.agent.cta || last.agent.warp != step.agent.warp) continue;
    if (last.pc != step.pc || last.lanes != step.lanes || last.access || last.phase ||
        last.addresses != step.addresses || last.masks != step.masks ||
        (step.told != last.told && last.told != WatchedStep::kNothing))
      break;
    last.times += !step.waits && !last.waits;
    last.waits = step.waits;
    last.when = step.when;
    last.told = step.told;
    return;
  }
  steps_.push_back(std::move(step));
}

void Watch::barrier(uint32_t cta, uint32_t number, const std::vector<uint32_t>& lanes) {
  if (!in_sight(cta) || enough_ || steps_.size() >= kMost) return;
  ++phases_;
  std::vector<uint32_t> left = lanes;
  size_t open = size_t(std::count_if(left.begin(), left.end(), [](uint32_t l) { return l != 0; }));
  for (auto s = steps_.rbegin(); open && s != steps_.rend(); ++s) {
    if (s->agent.cta != cta || s->barrier != number + 1 || s->phase) continue;
    uint32_t& arrived = left[s->agent.warp];
    if (!(arrived & s->lanes)) continue;
    s->phase = phases_;
    arrived &= ~s->lanes;
    open -= arrived == 0;
  }
}

void Watch::copied(uint32_t cta, uint32_t copy, uint32_t pc, uint32_t lanes) {
  if (!in_sight(cta)) return;
  WatchedStep s;
  s.pc = pc;
  s.agent = {cta, race::kCopyAgent + copy * 32};
  s.lanes = lanes;
  s.copy = copy;
  const race::Side* sides[] = {&conflict_.first, &conflict_.second};
  for (int i = 0; i < 2; ++i) {
    const race::Agent& a = sides[i]->agent;
    if (a.cta == cta && a.warp >= race::kCopyAgent && (a.warp - race::kCopyAgent) / 32 == copy)
      s.access |= uint8_t(1 << i);
  }
  step(std::move(s));
}

namespace {

// Which objects, and in which phase they are.
void watch_mbarrier(WatchedStep& s, Machine& m, Warp& w, const ir::Op& op, char* regs) {
  for (uint32_t i = 0; i < 32; ++i)
    if (s.lanes >> i & 1)
      s.addresses.emplace_back(
          i, ir::offset_of(m.lane_address(op, m.program.mem[op.c], regs, i, *w.group)));
  auto object = w.cta->mbarriers.find(uint32_t(s.addresses.front().second));
  if (object == w.cta->mbarriers.end()) return;
  const uint64_t phase = object->second.phase;
  s.told = int64_t(phase);
  if (op.code != ir::OpCode::mbarrier_wait) return;
  const uint32_t lane = s.addresses.front().first;
  // A state holds its phase above 20 bits (machine_mbarrier.cpp).
  const bool complete = op.flags & ir::kParity
                            ? (phase & 1) != lanes<uint32_t>(regs, op.b).v[lane]
                            : (lanes<uint64_t>(regs, op.b).v[lane] ^ m.state_mask()) >> 20 < phase;
  s.told = complete ? int64_t(phase) - 1 : WatchedStep::kNothing;
  s.waits = !complete;
}

} // namespace

void watch(Watch& watch, Machine& m, Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  const uint32_t cta = w.cta->index, active = lanes_that_hold(op, regs, w.exec_bits);
  if (!watch.in_sight(cta) || !active || (is_point(m.program, op) && !w.points_left)) return;
  WatchedStep s;
  s.pc = pc;
  s.agent = m.agent(w);
  s.lanes = active;
  if (op.code == ir::OpCode::bar)
    s.barrier = lanes<uint32_t>(regs, op.a).v[uint32_t(__builtin_ctz(active))] + 1;
  s.waits = op.code == ir::OpCode::cp_async_wait;
  if (op.code == ir::OpCode::cp_async) s.copy = w.cta->next_copy;
  const bool addressed = accesses_memory(op.code);
  const ir::MemInfo* info = addressed ? &m.program.mem[op.c] : nullptr;
  if (addressed && orders(m.program, op))
    for (uint32_t i = 0; i < 32; ++i)
      if (active >> i & 1)
        s.addresses.emplace_back(i, m.lane_address(op, *info, regs, i, *w.group));
  if (op.code == ir::OpCode::bar_warp_sync)
    for (uint32_t i = 0; i < 32; ++i)
      if (active >> i & 1) s.masks.emplace_back(i, lanes<uint32_t>(regs, op.a).v[i]);
  if (is_mbarrier(op.code)) watch_mbarrier(s, m, w, op, regs);
  const race::Conflict& c = watch.conflict();
  const race::Side* sides[] = {&c.first, &c.second};
  for (int k = 0; k < 2; ++k) {
    const race::Side& side = *sides[k];
    if (side.info.pc != pc || side.agent.cta != cta || side.agent.warp != w.index) continue;
    if (!(active >> side.lane & 1) || m.detector->time(m.agent(w), side.lane) != side.time)
      continue;
    if (addressed) {
      uint64_t a = m.lane_address(op, *info, regs, side.lane, *w.group);
      if (c.space == race::Space::shared) a = ir::offset_of(a);
      if (a >= c.address + 16 || c.address >= a + uint64_t(info->bytes) * info->vector) continue;
    }
    s.access |= uint8_t(1 << k);
  }
  // A plain access is of interest where it is one of the two.
  if (s.access || orders(m.program, op)) watch.step(std::move(s));
}

} // namespace assay::vgpu
