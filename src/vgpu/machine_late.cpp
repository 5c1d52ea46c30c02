// Atomic updates that take effect late; see late.hpp.
#include "ir/address_space.hpp"
#include "vgpu/atomic_value.hpp"
#include "vgpu/guard.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/order.hpp"
#include "vgpu/stage.hpp"

#include <algorithm>
#include <cstring>

namespace assay::vgpu {

namespace {
bool is_plain(ir::OpCode code) {
  using C = ir::OpCode;
  return code == C::ld || code == C::st || code == C::atom || code == C::red;
}
} // namespace

// Before these a late update may have to take effect. Memory that others than threads access is
// that which a thread asks them to: what they know is what it knows then.
bool Machine::finds_late(ir::OpCode code) {
  using C = ir::OpCode;
  return is_plain(code) || code == C::cp_async || code == C::ldmatrix || code == C::stmatrix ||
         code == C::vprintf || code == C::assertfail || code == C::free_;
}

// Is this the update that the run lets be late? Then it is put aside.
bool Machine::postpone(const Warp& w, uint32_t pc, uint32_t lane, const ir::MemInfo& info,
                       Region& region, uint64_t offset, const uint64_t (&operand)[2]) {
  const bool shared = region.space == race::Space::shared;
  const uint64_t address = shared ? offset : region.base + offset;
  if (!shared && memory.find(address) != &region) return false; // the heap's may be freed before
  for (ArmState& a : arms) {
    const race::Side& s = a.arm.first;
    if (!a.arm.late || a.written || s.info.pc != pc || s.agent != agent(w) || s.lane != lane ||
        (s.time != kAnyTime && s.time != detector->time(agent(w), lane)) ||
        a.arm.space != region.space || a.arm.address < address ||
        a.arm.address >= address + info.bytes)
      continue;
    a.written = true;
    stage.late.push_back({detector->postpone(agent(w), lane, order_of(info.semantics),
                                             race::Scope(uint8_t(info.scope))),
                          &info,
                          &region,
                          offset,
                          address,
                          w.cta->index,
                          {operand[0], operand[1]}});
    return true;
  }
  return false;
}

void Machine::take_effect(const LateEffect& late) {
  uint8_t before[8];
  uint8_t* cell = late.region->host + late.offset;
  const uint8_t bytes = late.info->bytes;
  std::memcpy(before, cell, bytes);
  update_element(*late.info, cell, late.operand, late.region->space == race::Space::global,
                 float_sums.get());
  if (late.region->init) init_set(late.region->init, late.offset, bytes);
  detector->late_update(late.region->space, late.address, bytes, *late.update, before);
  changed = true;
}

// What these lanes are about to do finds the effect of every update that precedes it.
void Machine::look_for_late(const Warp& w, const ir::Op& op, char* regs) {
  const uint32_t active = lanes_that_hold(op, regs, w.exec_bits);
  auto touches = [&](const LateEffect& late, uint32_t lane) {
    const ir::MemInfo& info = program.mem[op.c];
    uint64_t a = lane_address(op, info, regs, lane, *w.group);
    if (late.region->space == race::Space::shared) {
      if (late.cta != w.cta->index) return false;
      a = ir::offset_of(a);
    }
    return a < late.address + late.info->bytes &&
           late.address < a + uint64_t(info.bytes) * info.vector;
  };
  std::erase_if(stage.late, [&](const LateEffect& late) {
    bool found = false;
    for (uint32_t m = active; m && !found; m &= m - 1) {
      const uint32_t lane = uint32_t(__builtin_ctz(m));
      if (is_plain(op.code) && !touches(late, lane)) continue;
      found = detector->precedes(*late.update, agent(w), lane);
      outcome.arms_reversed |= !found && is_plain(op.code);
    }
    if (found) take_effect(late);
    return found;
  });
}

// Everybody waits, or a CTA has ended and its shared memory with it.
bool Machine::finish_late(const Cta* ended) {
  const size_t before = stage.late.size();
  std::erase_if(stage.late, [&](const LateEffect& late) {
    if (ended) return late.region->space == race::Space::shared && late.cta == ended->index;
    take_effect(late);
    return true;
  });
  return stage.late.size() < before;
}

} // namespace assay::vgpu
