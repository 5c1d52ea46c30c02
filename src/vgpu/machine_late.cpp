// Strong writes that take effect late; see late.hpp.
#include "ir/address_space.hpp"
#include "ir/commuting.hpp"
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
         code == C::vprintf || code == C::assertfail;
}

// Single elements of memory that a thread writes without looking. (An element of a vector may be as
// late, but its others need not.)
bool Machine::can_be_late(const ir::Op& op, const ir::MemInfo& info) {
  if (info.vector > 1 || info.bytes > 8 || info.semantics == ir::Semantics::mmio) return false;
  return op.code == ir::OpCode::st ? info.semantics != ir::Semantics::weak
                                   : ir::is_unread(op, info);
}

// Is the write of these lanes to be late? All of them are, since they are asked together: a block's
// updates are often of one instruction.
Lateness Machine::lateness(const Warp& w, uint32_t pc, const ir::Op& op, uint32_t lanes) {
  const ir::MemInfo& info = program.mem[op.c];
  if (!writes_late || !can_be_late(op, info)) return {};
  for (ArmState& a : arms) {
    const race::Side& s = a.arm.first;
    if (!a.arm.late || a.written || s.info.pc != pc || s.agent != agent(w) ||
        !(lanes >> s.lane & 1) ||
        (s.time != kAnyTime && s.time != detector->time(agent(w), s.lane)))
      continue;
    a.written = true;
    return {LateWrite::kAll, true, 0};
  }
  // A kernel of which nearly everything is atomics need not be asked about each.
  constexpr uint32_t kMostAsked = 4096, kPasses = 6;
  constexpr size_t kMostLate = 256;
  if (!policy.delays_writes() || stage.late.size() >= kMostLate || stage.late_asked >= kMostAsked)
    return {};
  ++stage.late_asked;
  const uint32_t passes = policy.choose(schedule::Choice::late, kPasses);
  return {passes + 1 == kPasses ? LateWrite::kAll : passes, false,
          options.record_trace ? outcome.trace.choices.size() - 1 : 0};
}

// The lane's earlier write to just that place, if it is still to take effect: what follows it in
// program order comes behind it, however late.
const LateWrite* Machine::ahead(const Warp& w, uint32_t lane, const ir::MemInfo& info,
                                race::Space space, uint64_t address) const {
  constexpr size_t kMostBehind = 4096;
  if (stage.late.size() >= kMostBehind) return nullptr;
  for (const LateWrite& late : stage.late)
    if (late.by.agent == agent(w) && late.by.lane == lane && late.region->space == space &&
        late.address == address && late.info->bytes == info.bytes)
      return &late;
  return nullptr;
}

// Puts it aside if it is to be late.
bool Machine::postpone(const Warp& w, uint32_t pc, uint32_t lane, const Lateness& asked,
                       Region& region, uint64_t offset, const uint64_t (&operand)[2]) {
  if (!asked.passes && stage.late.empty()) return false;
  const ir::Op& op = program.ops[pc];
  const ir::MemInfo& info = program.mem[op.c];
  const bool shared = region.space == race::Space::shared;
  const uint64_t address = shared ? offset : region.base + offset;
  if (!region.tracked || !can_be_late(op, info)) return false;
  if (!shared && memory.find(address) != &region) return false; // the heap's may be freed before
  Lateness how = asked;
  if (const LateWrite* first = ahead(w, lane, info, region.space, address))
    how = {LateWrite::kAll, false, first->choice};
  if (!how.passes) return false;
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
  late.passes = how.passes;
  late.armed = how.armed;
  late.choice = how.choice;
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

// Somebody comes before a late write: which two these are is told.
void Machine::passes_by(const Warp& w, uint32_t pc, uint32_t lane, const ir::Op& op,
                        LateWrite& late) {
  const ir::MemInfo& info = program.mem[op.c];
  for (const ArmState& a : arms) {
    const race::Side& s = a.arm.second;
    outcome.arms_reversed |= late.armed && a.arm.late && s.info.pc == pc && s.agent == agent(w) &&
                             s.lane == lane && s.time == detector->time(agent(w), lane);
  }
  // Of a policy's choice the first that reads, which what follows may depend on; else the first.
  constexpr size_t kMostTold = 64;
  const bool reads =
      op.code == ir::OpCode::ld || (op.code == ir::OpCode::atom && !ir::is_unread(op, info));
  auto& told = outcome.missed_reads;
  if (!late.armed &&
      late.told >= told.size()) // the lanes of one instruction are late by one answer
    late.told = size_t(std::find_if(told.begin(), told.end(),
                                    [&](const auto& m) { return m.choice == late.choice; }) -
                       told.begin());
  const bool again = !late.armed && late.told < told.size();
  if (!options.record_trace || (again && (!reads || told[late.told].pair.second.info.read)) ||
      (!again && told.size() >= kMostTold))
    return;
  if (!again) {
    late.told = told.size();
    told.emplace_back();
  }
  Outcome::MissedRead& m = told[late.told];
  m = {};
  m.launch = stage.first;
  m.choice = late.choice;
  m.pair.kind = race::Conflict::Kind::order;
  m.pair.space = late.region->space;
  if (m.pair.space == race::Space::shared) m.pair.space_cta = late.by.agent.cta;
  m.pair.address = late.address;
  m.pair.first = late.by;
  race::Side& second = m.pair.second;
  second = {agent(w), lane, {}, detector->time(agent(w), lane), launch_index - stage.first};
  second.info.pc = pc;
  second.info.bytes = uint8_t(info.bytes * info.vector);
  second.info.elements = info.vector;
  second.info.strong = info.semantics != ir::Semantics::weak;
  second.info.atomic = info.atomic != ir::AtomicOp::none;
  second.info.read = reads;
  second.info.write = op.code != ir::OpCode::ld;
}

// Addresses of shared memory are offsets, as those of late writes.
struct Machine::Reached {
  uint32_t lanes = 0, shared = 0;
  uint64_t bytes = 0; // of each
  uint64_t address[32];
  uint64_t low = ~uint64_t(0), high = 0; // of all, wherever
};

Machine::Reached Machine::reached(const Warp& w, const ir::Op& op, char* regs) {
  Reached at;
  at.lanes = lanes_that_hold(op, regs, w.exec_bits);
  if (!is_plain(op.code)) return at;
  const ir::MemInfo& info = program.mem[op.c];
  const bool all_shared = info.space == ptx::Space::shared ||
                          info.space == ptx::Space::shared_cta ||
                          info.space == ptx::Space::shared_cluster;
  at.bytes = uint64_t(info.bytes) * info.vector;
  for (uint32_t m = at.lanes; m; m &= m - 1) {
    const uint32_t lane = uint32_t(__builtin_ctz(m));
    uint64_t a = lane_address(op, info, regs, lane, *w.group);
    if (all_shared || (info.space == ptx::Space::none && ir::window_of(a) == ir::kSharedWindow)) {
      at.shared |= 1u << lane;
      a = ir::offset_of(a);
    }
    at.address[lane] = a;
    at.low = std::min(at.low, a);
    at.high = std::max(at.high, a + at.bytes);
  }
  return at;
}

// Must the write have taken effect before these lanes go on?
bool Machine::finds(const Warp& w, uint32_t pc, const ir::Op& op, const Reached& at,
                    LateWrite& late) {
  const bool plain = is_plain(op.code);
  uint32_t candidates = at.lanes;
  if (plain) {
    if (at.low >= late.address + late.info->bytes || at.high <= late.address) return false;
    const bool shared = late.region->space == race::Space::shared;
    if (shared && late.by.agent.cta != w.cta->index) return false;
    candidates &= shared ? at.shared : ~at.shared;
  }
  for (uint32_t m = candidates; m; m &= m - 1) {
    const uint32_t lane = uint32_t(__builtin_ctz(m));
    if (!plain) {
      if (detector->precedes(*late.update, agent(w), lane)) return true;
      continue;
    }
    const ir::MemInfo& info = program.mem[op.c];
    const uint64_t a = at.address[lane];
    if (a >= late.address + late.info->bytes || a + at.bytes <= late.address) continue;
    if (late.by.agent == agent(w) && late.by.lane == lane && can_be_late(op, info) &&
        ahead(w, lane, info, late.region->space, a))
      continue; // and so it comes behind
    if (detector->precedes(*late.update, agent(w), lane) || late.passes == 0) return true;
    if (late.passes != LateWrite::kAll) --late.passes;
    passes_by(w, pc, lane, op, late);
  }
  return false;
}

// What these lanes are about to do finds the effect of every write that precedes it.
void Machine::look_for_late(const Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  const Reached at = reached(w, op, regs);
  for (size_t i = 0; i < stage.late.size();) {
    if (!finds(w, pc, op, at, stage.late[i])) {
      ++i;
      continue;
    }
    take_effect(stage.late[i]);
    stage.late.erase(stage.late.begin() + ptrdiff_t(i));
  }
}

// Everybody waits: nobody comes before them any more. True: there were some.
bool Machine::finish_late() {
  if (stage.late.empty()) return false;
  for (const LateWrite& late : stage.late) take_effect(late);
  stage.late.clear();
  return true;
}

} // namespace assay::vgpu
