// mov with packing and unpacking of vectors, and the integer instructions that need several
// operations: extended-precision add, sub and mad, bfi, lop3 with a predicate. PTX ISA 9.0,
// sections 9.7.1, 9.7.2, 9.7.8, 9.7.9.
#include "ir/lower_pure.hpp"

#include <fmt/format.h>
#include <span>

namespace assay::ir::pure {
namespace {

using Operands = std::span<const ptx::Operand>;

ptx::Type bits_type(uint32_t width) {
  switch (width) {
  case 8: return ptx::Type::b8;
  case 16: return ptx::Type::b16;
  case 64: return ptx::Type::b64;
  case 128: return ptx::Type::b128;
  default: return ptx::Type::b32;
  }
}

OpCode move_of(uint32_t width) {
  return width == 128 ? OpCode::mov_b128 : width == 64 ? OpCode::mov_b64 : OpCode::mov_b32;
}

// Halves of a value of `width` bits.
void emit_low(uint32_t width, Value d, Value a, Builder& builder) {
  builder.emit(width == 128  ? OpCode::low_b64
               : width == 64 ? OpCode::low_b32
               : width == 32 ? OpCode::low_b16
                             : OpCode::zext_b8,
               d, a);
}
void emit_high(uint32_t width, Value d, Value a, Builder& builder) {
  if (width == 16) return builder.emit(OpCode::shr_u32, d, a, builder.constant(8, 32));
  builder.emit(width == 128  ? OpCode::high_b64
               : width == 64 ? OpCode::high_b32
                             : OpCode::high_b16,
               d, a);
}
void emit_pack(uint32_t width, Value d, Value low, Value high, Builder& builder) {
  if (width == 16) {
    Value shifted = builder.temp(16);
    builder.emit(OpCode::shl_b16, shifted, high, builder.constant(8, 32));
    return builder.emit(OpCode::or_b32, d, low, shifted);
  }
  builder.emit(width == 128  ? OpCode::pack_b128
               : width == 64 ? OpCode::pack_b64
                             : OpCode::pack_b32,
               d, low, high);
}

// Writes the parts of `value` (of `width` bits) to the destinations, the lowest first.
Result<void> unpack(Value value, uint32_t width, Operands parts, Builder& builder) {
  uint32_t half = width / 2;
  if (parts.size() < 2) return usage_error("a vector of mov has one element");
  for (int side = 0; side < 2; ++side) {
    Operands mine = parts.subspan(side ? parts.size() / 2 : 0, parts.size() / 2);
    Value to;
    if (mine.size() == 1) {
      if (mine[0].kind == ptx::Operand::Kind::sink) continue;
      ASSAY_DEST(d, mine[0], bits_type(half));
      to = d;
    } else {
      to = builder.temp(half);
    }
    (side ? emit_high : emit_low)(width, to, value, builder);
    if (mine.size() > 1)
      if (auto done = unpack(to, half, mine, builder); !done) return done.error();
  }
  return {};
}

Result<void> pack(Value d, uint32_t width, Operands parts, Builder& builder) {
  uint32_t half = width / 2;
  if (parts.size() < 2) return usage_error("a vector of mov has one element");
  Value halves[2];
  for (int side = 0; side < 2; ++side) {
    Operands mine = parts.subspan(side ? parts.size() / 2 : 0, parts.size() / 2);
    if (mine.size() == 1) {
      ASSAY_SOURCE(a, mine[0], bits_type(half));
      halves[side] = a;
    } else {
      halves[side] = builder.temp(half);
      if (auto done = pack(halves[side], half, mine, builder); !done) return done.error();
    }
  }
  emit_pack(width, d, halves[0], halves[1], builder);
  return {};
}

bool power_of_two(size_t n) { return n >= 2 && (n & (n - 1)) == 0; }

} // namespace

Result<bool> lower_mov(const ptx::Instruction& i, Builder& builder) {
  if (auto enough = need(i, 2); !enough) return enough.error();
  if (i.modifiers.empty()) return unsupported_form(i);
  ptx::Type type = ptx::type_from(i.modifiers.back());
  uint32_t width = ptx::bits(type);
  const ptx::Operand &to = i.operands[0], &from = i.operands[1];
  if (to.kind == ptx::Operand::Kind::vector) {
    if (!power_of_two(to.elements.size())) return unsupported_form(i);
    ASSAY_SOURCE(a, from, type);
    if (auto done = unpack(a, width, to.elements, builder); !done) return done.error();
    return true;
  }
  ASSAY_DEST(d, to, type);
  if (from.kind == ptx::Operand::Kind::vector) {
    if (!power_of_two(from.elements.size())) return unsupported_form(i);
    if (auto done = pack(d, width, from.elements, builder); !done) return done.error();
    return true;
  }
  ASSAY_SOURCE(a, from, type);
  builder.emit(move_of(width), d, a);
  return true;
}

namespace {

// d = a ± b (± CC) and CC = the carry or borrow out, as the modifiers ask.
void emit_carry(bool subtract, bool carry_in, bool carry_out, bool wide, Value d, Value a, Value b,
                Builder& builder) {
  Value cc = builder.carry();
  Value in = carry_in ? cc : builder.constant(0, 32), out;
  if (carry_out) { // first, as d may be a or b
    out = carry_in ? builder.temp(32) : cc;
    OpCode code = subtract ? (wide ? OpCode::carry_sub_b64 : OpCode::carry_sub_b32)
                           : (wide ? OpCode::carry_add_b64 : OpCode::carry_add_b32);
    builder.emit(code, out, a, b, in);
  }
  OpCode code = subtract ? (wide ? OpCode::sub_carry_b64 : OpCode::sub_carry_b32)
                         : (wide ? OpCode::add_carry_b64 : OpCode::add_carry_b32);
  builder.emit(code, d, a, b, in);
  if (carry_out && carry_in) builder.emit(OpCode::mov_b32, cc, out);
}

} // namespace

// add.cc addc{.cc} sub.cc subc{.cc} mad.cc madc{.cc}
Result<bool> lower_carry(const ptx::Instruction& i, Builder& builder) {
  bool is_mad = i.opcode == "mad" || i.opcode == "madc";
  bool is_sub = i.opcode == "sub" || i.opcode == "subc";
  if (auto enough = need(i, is_mad ? 4 : 3); !enough) return enough.error();
  bool carry_in = i.opcode.back() == 'c', carry_out = has(i, ".cc");
  ptx::Type type = ptx::type_from(i.modifiers.back());
  uint32_t width = ptx::bits(type);
  ASSAY_DEST(d, i.operands[0], type);
  ASSAY_SOURCE(a, i.operands[1], type);
  ASSAY_SOURCE(b, i.operands[2], type);
  if (is_mad) {
    std::string name = has(i, ".hi") ? fmt::format("mul_hi_{}", i.modifiers.back().substr(1))
                                     : fmt::format("mul_lo_b{}", width);
    ASSAY_SOURCE(c, i.operands[3], type);
    Value product = builder.temp(width);
    builder.emit(find_code(name).value(), product, a, b);
    a = product;
    b = c;
  }
  emit_carry(is_sub, carry_in, carry_out, width == 64, d, a, b, builder);
  return true;
}

Result<bool> lower_bfi(const ptx::Instruction& i, Builder& builder) {
  if (auto enough = need(i, 5); !enough) return enough.error();
  ptx::Type type = ptx::type_from(i.modifiers.back());
  ASSAY_DEST(d, i.operands[0], type);
  ASSAY_SOURCE(a, i.operands[1], type);
  ASSAY_SOURCE(b, i.operands[2], type);
  Value field;
  const ptx::Operand &position = i.operands[3], &length = i.operands[4];
  if (position.kind == ptx::Operand::Kind::integer && length.kind == ptx::Operand::Kind::integer) {
    field = builder.constant((position.bits & 255) | (length.bits & 255) << 8, 32);
  } else {
    ASSAY_SOURCE(p, position, ptx::Type::b32);
    ASSAY_SOURCE(l, length, ptx::Type::b32);
    field = builder.temp(32);
    builder.emit(OpCode::bfi_field, field, p, l);
  }
  builder.emit(ptx::bits(type) == 64 ? OpCode::bfi_b64 : OpCode::bfi_b32, d, a, b, field);
  return true;
}

// lop3.BoolOp.b32 d|p, a, b, c, table, q: p = (d != 0) BoolOp q.
Result<bool> lower_lop3(const ptx::Instruction& i, Builder& builder) {
  if (!has(i, ".and") && !has(i, ".or")) return lower_form(i, builder);
  if (auto enough = need(i, 6); !enough) return enough.error();
  const ptx::Operand& to = i.operands[0];
  if (to.kind != ptx::Operand::Kind::pair || to.elements.size() != 2) return unsupported_form(i);
  ASSAY_SOURCE(a, i.operands[1], ptx::Type::b32);
  ASSAY_SOURCE(b, i.operands[2], ptx::Type::b32);
  ASSAY_SOURCE(c, i.operands[3], ptx::Type::b32);
  ASSAY_SOURCE(q, i.operands[5], ptx::Type::pred);
  ASSAY_DEST(d, to.elements[0], ptx::Type::b32);
  ASSAY_DEST(p, to.elements[1], ptx::Type::pred);
  builder.emit(OpCode::lop3_b32, d, a, b, c, i.operands[4].bits);
  Value nonzero = builder.temp(1);
  builder.emit(OpCode::setp_ne_b32, nonzero, d, builder.constant(0, 32));
  builder.emit(has(i, ".and") ? OpCode::and_b32 : OpCode::or_b32, p, nonzero, q);
  return true;
}

} // namespace assay::ir::pure
