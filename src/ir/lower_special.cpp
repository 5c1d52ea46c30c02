// Plain moves of special registers and addresses, stack manipulation (PTX ISA 9.0, section 9.7.17),
// miscellaneous instructions (9.7.20), and the hand-over of everything else to lower_pure().
#include "ir/function_lowering.hpp"
#include "ir/special.hpp"

namespace assay::ir {

using ptx::Operand;
using ptx::Type;

Result<void> FunctionLowering::lower_pure_operation(const ptx::Instruction& in) {
  auto known = lower_pure(in, *this);
  if (!known) return known.error();
  if (!*known) return not_executed(in);
  return {};
}

// mov of a special register writes its destination directly; every other mov is pure.
Result<void> FunctionLowering::lower_mov(const ptx::Instruction& in) {
  if (guard_.valid() || in.operands.size() != 2 || in.operands[0].kind != Operand::Kind::reg)
    return lower_pure_operation(in);
  const Operand& from = in.operands[1];
  uint32_t index = 0, bits = register_bits(in.operands[0]);
  if (from.kind == Operand::Kind::special) {
    Special special = special_from(from.name, index);
    uint32_t width = is_wide(special) ? 64 : 32;
    if (special == Special::unknown || special == Special::is_explicit_cluster || bits != width)
      return lower_pure_operation(in);
    auto d = dest(in.operands[0], Type::none);
    if (!d) return d.error();
    emit(OpCode::special, *d, {}, {}, {}, uint64_t(special) | uint64_t(index) << 8);
    return {};
  }
  if (from.kind == Operand::Kind::symbol && bits == 64)
    if (const Symbol* s = find_symbol(from.name); s && s->kind == Symbol::Kind::frame) {
      auto d = dest(in.operands[0], Type::none);
      if (!d) return d.error();
      emit(OpCode::frame_address, *d, {}, {}, {}, s->value + uint64_t(from.offset));
      return {};
    }
  return lower_pure_operation(in);
}

// alloca.type ptr, size{, immAlign}
Result<void> FunctionLowering::lower_alloca(const ptx::Instruction& in) {
  if (in.operands.size() < 2 || register_bits(in.operands[0]) != 64) return not_executed(in);
  auto d = dest(in.operands[0], Type::u64);
  if (!d) return d.error();
  auto size = source(in.operands[1], Type::u64);
  if (!size) return size.error();
  uint64_t align = in.operands.size() > 2 ? in.operands[2].bits : 8;
  emit(OpCode::alloca_, *d, *size, {}, {}, align);
  return {};
}

Result<void> FunctionLowering::lower_stack(const ptx::Instruction& in) {
  if (in.operands.size() != 1 || register_bits(in.operands[0]) != 64) return not_executed(in);
  bool save = in.opcode == "stacksave";
  auto v = save ? dest(in.operands[0], Type::u64) : source(in.operands[0], Type::u64);
  if (!v) return v.error();
  if (save)
    emit(OpCode::stacksave, *v);
  else
    emit(OpCode::stackrestore, {}, *v);
  return {};
}

Result<void> FunctionLowering::lower_nanosleep(const ptx::Instruction& in) {
  auto time = source(in.operands.at(0), Type::u32);
  if (!time) return time.error();
  emit(OpCode::nanosleep, {}, *time);
  return {};
}

// Performance events, dependent launches (one launch ends before the next begins here) and cache
// priorities have no effect on values.
Result<void> FunctionLowering::lower_nothing(const ptx::Instruction&) { return {}; }

} // namespace assay::ir
