// Strong writes that take effect late; see late.hpp.
#include "ir/address_space.hpp"
#include "vgpu/atomic_value.hpp"
#include "vgpu/guard.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/order.hpp"
#include "vgpu/stage.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace assay::vgpu {

namespace {
bool is_plain(ir::OpCode code) {
  using C = ir::OpCode;
  return code == C::ld || code == C::st || code == C::atom || code == C::red;
}
} // namespace

// Before these a late write may have to take effect. What others than threads access, a thread asks
// them to, and what they know is what it knows then.
bool Machine::finds_late(ir::OpCode code) {
  using C = ir::OpCode;
  return is_plain(code) || code == C::cp_async || code == C::ldmatrix || code == C::stmatrix ||
         code == C::vprintf || code == C::assertfail || code == C::free_;
}

// How many accesses may come before this write; 0: it takes effect now.
uint32_t Machine::lateness(const Warp& w, uint32_t pc, uint32_t lane, const ir::MemInfo& info,
                           race::Space space, uint64_t address, bool* armed) {
  for (ArmState& a : arms) {
    const race::Side& s = a.arm.first;
    if (!a.arm.late || a.written || s.info.pc != pc || s.agent != agent(w) || s.lane != lane ||
        (s.time != kAnyTime && s.time != detector->time(agent(w), lane)) || a.arm.space != space ||
        a.arm.address < address || a.arm.address >= address + info.bytes)
      continue;
    a.written = *armed = true;
    return LateWrite::kAll;
  }
  // A kernel of which nearly everything is atomics need not be asked about each.
  constexpr uint32_t kMostAsked = 4096, kPasses = 6;
  constexpr size_t kMostLate = 64;
  if (info.semantics == ir::Semantics::mmio || !policy.delays_writes() ||
      stage.late.size() >= kMostLate || stage.late_asked >= kMostAsked)
    return 0;
  ++stage.late_asked;
  const uint32_t passes = policy.choose(schedule::Choice::late, kPasses);
  return passes + 1 == kPasses ? LateWrite::kAll : passes;
}

// Is this write to be late? Then it is put aside.
bool Machine::postpone(const Warp& w, uint32_t pc, uint32_t lane, const ir::MemInfo& info,
                       Region& region, uint64_t offset, const uint64_t (&operand)[2]) {
  const bool shared = region.space == race::Space::shared;
  const uint64_t address = shared ? offset : region.base + offset;
  if (!shared && memory.find(address) != &region) return false; // the heap's may be freed before
  bool armed = false;
  const uint32_t passes = lateness(w, pc, lane, info, region.space, address, &armed);
  if (!passes) return false;
  LateWrite& late = stage.late.emplace_back();
  late.by = {agent(w), lane, {}, detector->time(agent(w), lane), launch_index - stage.first};
  late.by.info.pc = pc;
  late.by.info.bytes = info.bytes;
  late.by.info.write = late.by.info.strong = true;
  late.by.info.atomic = late.by.info.read = info.atomic != ir::AtomicOp::none;
  late.update = detector->postpone(agent(w), lane, region.space, address, info.bytes,
                                   order_of(info.semantics), scope_of(info),
                                   info.atomic == ir::AtomicOp::none);
  late.info = &info;
  late.region = &region;
  late.offset = offset;
  late.address = address;
  std::copy(operand, operand + 2, late.operand);
  late.passes = passes;
  late.armed = armed;
  late.choice = outcome.trace.choices.size() - 1;
  return true;
}

void Machine::take_effect(const LateWrite& late) {
  uint8_t before[8];
  uint8_t* cell = late.region->host + late.offset;
  const uint8_t bytes = late.info->bytes;
  std::memcpy(before, cell, bytes);
  if (late.info->atomic == ir::AtomicOp::none)
    std::memcpy(cell, late.operand, bytes);
  else
    update_element(*late.info, cell, late.operand, late.region->space == race::Space::global,
                   float_sums.get());
  if (late.region->init) init_set(late.region->init, late.offset, bytes);
  if (late.info->atomic == ir::AtomicOp::cas && !std::memcmp(before, cell, bytes)) return;
  detector->late_update(late.region->space, late.address, bytes, *late.update, before);
  changed = true;
}

// Somebody comes before a late write. By the policy's choice: which two these are is told.
void Machine::passes_by(const Warp& w, uint32_t pc, uint32_t lane, const ir::MemInfo& info,
                        bool reads, LateWrite& late) {
  constexpr size_t kMostTold = 64;
  outcome.arms_reversed |= late.armed;
  if (late.armed || std::exchange(late.told, true) || !options.record_trace ||
      outcome.missed_reads.size() >= kMostTold)
    return;
  Outcome::MissedRead& m = outcome.missed_reads.emplace_back();
  m.launch = stage.first;
  m.choice = late.choice;
  m.pair.kind = race::Conflict::Kind::order;
  m.pair.space = late.region->space;
  m.pair.address = late.address;
  m.pair.first = late.by;
  race::Side& second = m.pair.second;
  second = {agent(w), lane, {}, detector->time(agent(w), lane), launch_index - stage.first};
  second.info.pc = pc;
  second.info.bytes = uint8_t(info.bytes * info.vector);
  second.info.strong = info.semantics != ir::Semantics::weak;
  second.info.atomic = info.atomic != ir::AtomicOp::none;
  second.info.read = reads || second.info.atomic;
  second.info.write = !reads;
}

// What these lanes are about to do finds the effect of every write that precedes it.
void Machine::look_for_late(const Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  const uint32_t active = lanes_that_hold(op, regs, w.exec_bits);
  const ir::MemInfo& info = program.mem[op.c];
  auto touches = [&](const LateWrite& late, uint32_t lane) {
    uint64_t a = lane_address(op, info, regs, lane, *w.group);
    if (late.region->space == race::Space::shared) {
      if (late.by.agent.cta != w.cta->index) return false;
      a = ir::offset_of(a);
    }
    return a < late.address + late.info->bytes &&
           late.address < a + uint64_t(info.bytes) * info.vector;
  };
  auto found = [&](LateWrite& late) {
    for (uint32_t m = active; m; m &= m - 1) {
      const uint32_t lane = uint32_t(__builtin_ctz(m));
      if (is_plain(op.code) && !touches(late, lane)) continue;
      if (detector->precedes(*late.update, agent(w), lane)) return true;
      if (!is_plain(op.code)) continue;
      if (late.passes == 0) return true;
      if (late.passes != LateWrite::kAll) --late.passes;
      passes_by(w, pc, lane, info, op.code == ir::OpCode::ld, late);
    }
    return false;
  };
  for (size_t i = 0; i < stage.late.size();) {
    if (!found(stage.late[i])) {
      ++i;
      continue;
    }
    take_effect(stage.late[i]);
    stage.late.erase(stage.late.begin() + ptrdiff_t(i));
  }
}

// Everybody waits, or a CTA has ended and its shared memory with it.
bool Machine::finish_late(const Cta* ended) {
  const size_t before = stage.late.size();
  std::erase_if(stage.late, [&](const LateWrite& late) {
    if (ended)
      return late.region->space == race::Space::shared && late.by.agent.cta == ended->index;
    take_effect(late);
    return true;
  });
  return stage.late.size() < before;
}

} // namespace assay::vgpu
