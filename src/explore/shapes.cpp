// Shapes of programs; see shapes.hpp.
#include "explore/shapes.hpp"

#include "ir/commuting.hpp"
#include "ptx/module.hpp"

#include <algorithm>
#include <set>

namespace assay::explore {

namespace {

using C = ir::OpCode;

// The range of the innermost loop around [low, high] as the operations stand; empty: there is none.
struct Range {
  uint32_t first = 1, last = 0;
};
Range loop_at(const ir::Program& program, uint32_t low, uint32_t high) {
  for (uint32_t pc = high; pc < program.ops.size(); ++pc) {
    const ir::Op& op = program.ops[pc];
    if (!(op.flags & ir::kBackEdge) || (op.code != C::jump && op.code != C::branch)) continue;
    const uint32_t target = uint32_t(op.imm);
    if (target <= low) return {target, pc};
  }
  return {};
}

bool only_looks(const ir::Program& program, const ir::Op& op, bool plain) {
  switch (op.code) {
  case C::ld: return plain || program.mem[op.c].semantics != ir::Semantics::weak;
  case C::st:
  case C::red:
  case C::bar:
  case C::call:
  case C::call_indirect:
  case C::cp_async: return false;
  default: return true;
  }
}

bool looks_only(const ir::Program& program, uint32_t pc, bool plain) {
  const Range loop = loop_at(program, pc, pc);
  const ir::Slot address = program.ops[pc].a;
  for (uint32_t i = loop.first; i <= loop.last; ++i) {
    const ir::Op& op = program.ops[i];
    if (!only_looks(program, op, plain)) return false;
    if (plain && address != ir::kNoSlot && op.d == address) return false; // another place each time
  }
  return loop.first <= loop.last;
}

} // namespace

bool loop_around(const ir::Program& program, uint32_t low, uint32_t high) {
  const Range loop = loop_at(program, low, high);
  return loop.first <= loop.last;
}

bool polls(const ir::Program& program, uint32_t pc, bool plain) {
  // Compilers put the first look before the loop.
  constexpr uint32_t kNear = 32;
  const ir::Op& op = program.ops[pc];
  for (uint32_t next = pc + 1; next < program.ops.size() && next <= pc + kNear; ++next) {
    const ir::Op& other = program.ops[next];
    if (other.code == op.code && op.code == C::ld && other.a == op.a && other.imm == op.imm &&
        looks_only(program, next, plain))
      return true;
  }
  return looks_only(program, pc, plain);
}

uint32_t updates(const ir::Program& program, uint32_t store) {
  constexpr uint32_t kMost = 64;
  const ir::Op& st = program.ops[store];
  if (st.code != C::st || program.mem[st.c].vector != 1) return ir::kNoIndex;
  std::set<ir::Slot> made_of = {program.mem[st.c].regs[0]};
  for (uint32_t n = 0; n < kMost && n < store; ++n) {
    const uint32_t pc = store - 1 - n;
    const ir::Op& op = program.ops[pc];
    if (op.code == C::jump || op.code == C::branch || op.code == C::ret) break;
    if (op.code == C::ld && program.mem[op.c].vector == 1) {
      const bool source = made_of.count(program.mem[op.c].regs[0]) != 0;
      if (source && op.a == st.a && op.imm == st.imm) return pc;
      continue;
    }
    if (op.d == st.a) break; // another address
    if (op.d != ir::kNoSlot && op.code > C::free_ && made_of.count(op.d))
      made_of.insert({op.a, op.b, op.c});
  }
  return ir::kNoIndex;
}

bool only_reads(const ir::Program& program, uint32_t pc) {
  using A = ir::AtomicOp;
  const ptx::Instruction* in = program.sites[pc].instruction;
  if (program.ops[pc].code != C::atom || !in || in->operands.size() < 3) return false;
  const ir::MemInfo& info = program.mem[program.ops[pc].c];
  const ptx::Operand &value = in->operands[2], &last = in->operands.back();
  using K = ptx::Operand::Kind;
  if (info.atomic == A::cas)
    return value.kind == last.kind && value.kind == K::reg
               ? value.name == last.name
               : value.kind == K::integer && last.kind == K::integer && value.bits == last.bits;
  const bool number =
      value.kind == K::integer || value.kind == K::float32 || value.kind == K::float64;
  if (!number) return false;
  if (info.atomic == A::and_)
    return (value.bits | ~uint64_t(0) << (info.bytes * 4) << (info.bytes * 4)) == ~uint64_t(0);
  return value.bits == 0 &&
         (info.atomic == A::add || info.atomic == A::or_ || info.atomic == A::xor_);
}

bool takes(const ir::Program& program, uint32_t first, uint32_t second) {
  const ir::Op &taker = program.ops[first], &other = program.ops[second];
  if (first == second || taker.code != C::atom || taker.d == ir::kNoSlot) return false;
  if (only_reads(program, first)) return !only_reads(program, second);
  return (other.code == C::atom || other.code == C::red) &&
         ir::is_unread(other, program.mem[other.c]) && !polls(program, first) &&
         program.mem[taker.c].atomic != ir::AtomicOp::cas;
}

bool decides(const ir::Program& program, uint32_t pc) {
  constexpr uint32_t kMost = 64;
  const ir::Op& load = program.ops[pc];
  std::set<ir::Slot> follows = {load.d};
  if (load.code == C::ld) {
    const ir::MemInfo& info = program.mem[load.c];
    follows.insert(info.regs, info.regs + info.vector);
  }
  follows.erase(ir::kNoSlot);
  uint32_t at = pc + 1;
  for (uint32_t n = 0; n < kMost && at < program.ops.size(); ++n, ++at) {
    const ir::Op& op = program.ops[at];
    if (op.code == C::branch && follows.count(op.a)) return true;
    if ((op.flags & ir::kGuarded) && follows.count(op.guard)) return true;
    if (op.code == C::st) {
      const ir::MemInfo& info = program.mem[op.c];
      for (uint32_t i = 0; i < info.vector; ++i)
        if (follows.count(info.regs[i])) return false;
    }
    const bool reads = follows.count(op.a) || follows.count(op.b) || follows.count(op.c);
    const bool pure = op.code > C::free_; // the last of ops_core.def
    if (op.d != ir::kNoSlot && pure && reads)
      follows.insert(op.d);
    else if (op.d != ir::kNoSlot)
      follows.erase(op.d); // slots serve several values in turn
    if (op.code == C::jump) at = uint32_t(op.imm) - 1;
    if (op.code == C::exit || op.code == C::ret) return false;
  }
  return false;
}

} // namespace assay::explore
