// Fences; see fences.hpp.
#include "vgpu/fences.hpp"

#include "base/random.hpp"
#include "vgpu/handlers/table.hpp"
#include "vgpu/stage.hpp"

#include <algorithm>

namespace assay::vgpu {

namespace {
using Fence = race::Detector::Fence;

// What neither touches memory nor orders it, nor leads elsewhere.
bool passes_on(ir::OpCode code) {
  using C = ir::OpCode;
  switch (code) {
  case C::join:
  case C::special:
  case C::meet:
  case C::shfl:
  case C::vote:
  case C::match:
  case C::redux:
  case C::elect:
  case C::activemask:
  case C::movmatrix:
  case C::check_written:
  case C::check_divisor:
  case C::check_base:
  case C::isspacep: return true;
  default: return is_pure(code);
  }
}

bool branches(ir::OpCode code) {
  using C = ir::OpCode;
  return code == C::jump || code == C::branch || code == C::brx;
}

bool exchanges(ir::OpCode code) {
  using C = ir::OpCode;
  return code == C::shfl || code == C::vote || code == C::match || code == C::redux ||
         code == C::elect || code == C::activemask;
}

// Some of these lanes, by a number that the policy chose: a random half, or all but the lowest one,
// which often is the one that looks at what the others did, or nobody.
uint32_t some_of(uint32_t lanes, uint32_t how) {
  switch (how % 4) {
  case 0: return 0;
  case 1: return lanes & (lanes - 1);
  default: return lanes & uint32_t(random_at(how, 1, 0));
  }
}
// Which of the lanes come after the others: as a directed run wants its two, or by the policy.
uint32_t last_in_turn(const Machine& m, const Warp& w, uint32_t lanes) {
  for (const ArmState& a : m.arms) {
    const race::Side &first = a.arm.first, &second = a.arm.second;
    if ((!a.arm.missed && !a.arm.late) || first.agent != m.agent(w)) continue;
    return lanes & (second.agent == first.agent ? ~(1u << second.lane) : 1u << first.lane);
  }
  return some_of(lanes, m.policy.choose(schedule::Choice::lane_order, count_lanes(lanes)));
}
} // namespace

bool can_be_put_off(const ir::Program& program, uint32_t pc) {
  constexpr uint32_t kMostSteps = 256; // a jump may lead back
  if (!is_fence_sc(program.ops[pc])) return false;
  ++pc;
  for (uint32_t n = 0; n < kMostSteps && pc < program.ops.size(); ++n) {
    const ir::Op& op = program.ops[pc];
    if (exchanges(op.code)) return true;
    if (op.code == ir::OpCode::jump)
      pc = uint32_t(op.imm);
    else if (passes_on(op.code))
      ++pc;
    else
      return false;
  }
  return false;
}

bool ends_put_off(const ir::Program& program, uint32_t pc) {
  const ir::OpCode code = program.ops[pc].code;
  return !passes_on(code) && !branches(code);
}

void perform_put_off(Stage& stage, const Warp& w, uint32_t lanes) {
  for (PutOffFence& f : stage.put_off) {
    const uint32_t own = f.agent == w.machine->agent(w) ? f.lanes & lanes : 0;
    if (!own) continue;
    stage.detector->fence(f.agent, own, Fence::sc, f.scope);
    f.lanes &= ~own;
  }
  std::erase_if(stage.put_off, [](const PutOffFence& f) { return !f.lanes; });
}

void Machine::fence(Warp& w, const ir::Op& op) {
  auto semantics = ir::Semantics(op.imm & 255);
  // The order in which fence.sc execute is the schedule's: one run does not settle it.
  saw_strong |= semantics == ir::Semantics::sc && (total_ctas > 1 || !stage.alone());
  if (!detector) return;
  auto scope = race::Scope(op.imm >> 8 & 255);
  const Fence f = semantics == ir::Semantics::acquire   ? Fence::acquire
                  : semantics == ir::Semantics::release ? Fence::release
                  : semantics == ir::Semantics::sc      ? Fence::sc
                                                        : Fence::acq_rel;
  if (f != Fence::sc || (!misses_writes && !writes_late))
    return detector->fence(agent(w), w.exec_bits, f, scope);
  uint32_t late = 0; // those whose fence before this one has yet to come
  for (const PutOffFence& p : stage.put_off)
    if (p.agent == agent(w)) late |= p.lanes & w.exec_bits;
  const bool goes_on = !late && can_be_put_off(program, uint32_t(&op - program.ops.data()));
  if (!late && (goes_on || count_lanes(w.exec_bits) > 1))
    late = last_in_turn(*this, w, w.exec_bits);
  if (uint32_t others = w.exec_bits & ~late) detector->fence(agent(w), others, f, scope);
  if (!late) return;
  perform_put_off(stage, w, late);
  if (goes_on)
    stage.put_off.push_back({agent(w), late, scope});
  else
    detector->fence(agent(w), late, f, scope);
}

} // namespace assay::vgpu
