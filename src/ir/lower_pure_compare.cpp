// setp, set, slct: PTX ISA 9.0, section 9.7.6. A comparison leaves a predicate; boolean
// combination, a second destination and the value forms are operations of their own after it.
#include "ir/lower_pure.hpp"

#include <fmt/format.h>

namespace assay::ir::pure {
namespace {

struct Comparison {
  std::string_view written, base;
  bool swap;
};
// gt, ge and their unordered forms are lt, le, … with exchanged operands; lo, ls, hi, hs are the
// unsigned ones of integers.
constexpr Comparison kComparisons[] = {
    {".eq", "eq", false},   {".ne", "ne", false},   {".lt", "lt", false},   {".le", "le", false},
    {".gt", "lt", true},    {".ge", "le", true},    {".lo", "lt", false},   {".ls", "le", false},
    {".hi", "lt", true},    {".hs", "le", true},    {".equ", "equ", false}, {".neu", "neu", false},
    {".ltu", "ltu", false}, {".leu", "leu", false}, {".gtu", "ltu", true},  {".geu", "leu", true},
    {".num", "num", false}, {".nan", "nan", false},
};

const Comparison* find_comparison(std::string_view written) {
  for (const Comparison& c : kComparisons)
    if (c.written == written) return &c;
  return nullptr;
}

std::string suffix_of(std::string_view base, bool ftz, ptx::Type type) {
  if (ptx::is_float(type)) return fmt::format("{}{}", ftz ? "ftz_" : "", ptx::spelling(type));
  uint32_t width = ptx::bits(type);
  if (base == "eq" || base == "ne") return width == 64 ? "b64" : "b32";
  if (ptx::is_signed(type)) return fmt::format("s{}", width);
  return width == 64 ? "u64" : "u32";
}

std::optional<OpCode> boolean_of(const ptx::Instruction& i) {
  if (has(i, ".and")) return OpCode::and_b32;
  if (has(i, ".or")) return OpCode::or_b32;
  if (has(i, ".xor")) return OpCode::xor_b32;
  return std::nullopt;
}

Value widened(Value value, ptx::Type type, bool ftz, Builder& builder) {
  Chain chain(builder, value);
  if (ftz && type == ptx::Type::f16) chain.then(OpCode::flush_f16, 16);
  chain.then(type == ptx::Type::f16 ? OpCode::cvt_f32_f16 : OpCode::cvt_f32_bf16, 32);
  return chain.finish();
}

// The element of a packed pair, .none otherwise.
ptx::Type half_of(ptx::Type type) {
  return type == ptx::Type::f16x2    ? ptx::Type::f16
         : type == ptx::Type::bf16x2 ? ptx::Type::bf16
                                     : ptx::Type::none;
}

ptx::Type compared_type(const ptx::Instruction& i) { return ptx::type_from(i.modifiers.back()); }

} // namespace

Result<Value> compare(const ptx::Instruction& i, std::string_view comparison, bool ftz,
                      ptx::Type type, Value a, Value b, Builder& builder, Value into) {
  const Comparison* found = find_comparison(comparison);
  if (!found) return unsupported_form(i);
  if (type == ptx::Type::f16 || type == ptx::Type::bf16) { // exact in f32
    a = widened(a, type, ftz, builder);
    b = widened(b, type, ftz, builder);
    type = ptx::Type::f32;
    ftz = false;
  }
  auto code = find_code(fmt::format("setp_{}_{}", found->base, suffix_of(found->base, ftz, type)));
  if (!code) return unsupported_form(i);
  Value p = into.valid() ? into : builder.temp(1);
  builder.emit(*code, p, found->swap ? b : a, found->swap ? a : b);
  return p;
}

namespace {

// Both halves of packed operands compared: predicates of the low and the high one.
Result<void> compare_halves(const ptx::Instruction& i, ptx::Type half, Value a, Value b,
                            Value (&holds)[2], Builder& builder) {
  for (int side = 0; side < 2; ++side) {
    OpCode part = side ? OpCode::high_b16 : OpCode::low_b16;
    Value x = builder.temp(16), y = builder.temp(16);
    builder.emit(part, x, a);
    builder.emit(part, y, b);
    auto p = compare(i, i.modifiers[0], has(i, ".ftz"), half, x, y, builder);
    if (!p) return p.error();
    holds[side] = *p;
  }
  auto boolean = boolean_of(i);
  if (!boolean) return {};
  if (auto enough = need(i, 4); !enough) return enough.error();
  ASSAY_SOURCE(c, i.operands[3], ptx::Type::pred);
  for (Value& p : holds) {
    Value both = builder.temp(1);
    builder.emit(*boolean, both, p, c);
    p = both;
  }
  return {};
}

// setp.f16x2 p|q: of the low halves and of the high halves.
Result<bool> setp_halves(const ptx::Instruction& i, ptx::Type type, Builder& builder) {
  const ptx::Operand& to = i.operands[0];
  if (to.kind != ptx::Operand::Kind::pair || to.elements.size() != 2) return unsupported_form(i);
  ASSAY_SOURCE(a, i.operands[1], ptx::Type::b32);
  ASSAY_SOURCE(b, i.operands[2], ptx::Type::b32);
  Value holds[2];
  if (auto done = compare_halves(i, half_of(type), a, b, holds, builder); !done)
    return done.error();
  for (int side = 0; side < 2; ++side) {
    ASSAY_DEST(p, to.elements[side], ptx::Type::pred);
    builder.emit(OpCode::mov_b32, p, holds[side]);
  }
  return true;
}

// set.….f16x2.f16x2: 1.0 or 0 in each half.
Result<bool> set_halves(const ptx::Instruction& i, ptx::Type type, ptx::Type result,
                        Builder& builder) {
  ptx::Type half = half_of(result);
  if (half == ptx::Type::none && result != ptx::Type::u32 && result != ptx::Type::s32)
    return unsupported_form(i);
  uint32_t one = half == ptx::Type::f16 ? 0x3c00 : half == ptx::Type::bf16 ? 0x3f80 : 0xffff;
  ASSAY_SOURCE(a, i.operands[1], ptx::Type::b32);
  ASSAY_SOURCE(b, i.operands[2], ptx::Type::b32);
  Value holds[2], values[2];
  if (auto done = compare_halves(i, half_of(type), a, b, holds, builder); !done)
    return done.error();
  for (int side = 0; side < 2; ++side) {
    values[side] = builder.temp(16);
    builder.emit(OpCode::selp_b32, values[side], builder.constant(one, 32), builder.constant(0, 32),
                 holds[side]);
  }
  ASSAY_DEST(d, i.operands[0], ptx::Type::b32);
  builder.emit(OpCode::pack_b32, d, values[0], values[1]);
  return true;
}

} // namespace

// setp.CmpOp{.BoolOp}{.ftz}.type p{|q}, a, b{, {!}c}: p = cmp BoolOp c, q = !cmp BoolOp c.
Result<bool> lower_setp(const ptx::Instruction& i, Builder& builder) {
  if (auto enough = need(i, 3); !enough) return enough.error();
  ptx::Type type = compared_type(i);
  if (half_of(type) != ptx::Type::none) return setp_halves(i, type, builder);
  const ptx::Operand& to = i.operands[0];
  bool dual = to.kind == ptx::Operand::Kind::pair && to.elements.size() == 2;
  ASSAY_SOURCE(a, i.operands[1], type);
  ASSAY_SOURCE(b, i.operands[2], type);
  std::optional<OpCode> boolean = boolean_of(i);
  Value c;
  if (boolean) {
    if (auto enough = need(i, 4); !enough) return enough.error();
    ASSAY_SOURCE(source, i.operands[3], ptx::Type::pred);
    c = source;
  }
  ASSAY_DEST(p, dual ? to.elements[0] : to, ptx::Type::pred);
  bool direct = !boolean && !dual;
  auto compared =
      compare(i, i.modifiers[0], has(i, ".ftz"), type, a, b, builder, direct ? p : Value{});
  if (!compared) return compared.error();
  if (direct) return true;
  Value holds = *compared, result = holds, opposite;
  if (dual) {
    opposite = builder.temp(1);
    builder.emit(OpCode::not_b32, opposite, holds);
    if (boolean) builder.emit(*boolean, opposite, opposite, c);
  }
  if (boolean)
    builder.emit(*boolean, p, result, c);
  else
    builder.emit(OpCode::mov_b32, p, result);
  if (dual) {
    ASSAY_DEST(q, to.elements[1], ptx::Type::pred);
    builder.emit(OpCode::mov_b32, q, opposite);
  }
  return true;
}

// set.CmpOp{.BoolOp}{.ftz}.dtype.stype d, a, b{, {!}c}: all ones or 1.0 where it holds, else 0.
Result<bool> lower_set(const ptx::Instruction& i, Builder& builder) {
  if (auto enough = need(i, 3); !enough) return enough.error();
  if (i.modifiers.size() < 3) return unsupported_form(i);
  ptx::Type type = compared_type(i);
  ptx::Type result = ptx::type_from(i.modifiers[i.modifiers.size() - 2]);
  if (half_of(type) != ptx::Type::none) return set_halves(i, type, result, builder);
  uint64_t one = 0xffffffff;
  switch (result) {
  case ptx::Type::u32:
  case ptx::Type::s32: break;
  case ptx::Type::u16:
  case ptx::Type::s16: one = 0xffff; break;
  case ptx::Type::f32: one = 0x3f800000; break;
  case ptx::Type::f16: one = 0x3c00; break;
  case ptx::Type::bf16: one = 0x3f80; break;
  default: return unsupported_form(i);
  }
  ASSAY_SOURCE(a, i.operands[1], type);
  ASSAY_SOURCE(b, i.operands[2], type);
  auto compared = compare(i, i.modifiers[0], has(i, ".ftz"), type, a, b, builder);
  if (!compared) return compared.error();
  Value holds = *compared;
  if (auto boolean = boolean_of(i)) {
    if (auto enough = need(i, 4); !enough) return enough.error();
    ASSAY_SOURCE(c, i.operands[3], ptx::Type::pred);
    Value both = builder.temp(1);
    builder.emit(*boolean, both, holds, c);
    holds = both;
  }
  ASSAY_DEST(d, i.operands[0], result);
  builder.emit(OpCode::selp_b32, d, builder.constant(one, 32), builder.constant(0, 32), holds);
  return true;
}

// slct{.ftz}.dtype.ctype d, a, b, c: a where c ≥ 0, else (also for NaN) b.
Result<bool> lower_slct(const ptx::Instruction& i, Builder& builder) {
  if (auto enough = need(i, 4); !enough) return enough.error();
  if (i.modifiers.size() < 2) return unsupported_form(i);
  ptx::Type chosen = ptx::type_from(i.modifiers[i.modifiers.size() - 2]), type = compared_type(i);
  ASSAY_SOURCE(a, i.operands[1], chosen);
  ASSAY_SOURCE(b, i.operands[2], chosen);
  ASSAY_SOURCE(c, i.operands[3], type);
  auto holds = compare(i, ".ge", has(i, ".ftz"), type, c, builder.constant(0, 32), builder);
  if (!holds) return holds.error();
  ASSAY_DEST(d, i.operands[0], chosen);
  builder.emit(ptx::bits(chosen) == 64 ? OpCode::selp_b64 : OpCode::selp_b32, d, a, b, *holds);
  return true;
}

} // namespace assay::ir::pure
