// cvt as a chain of steps: extend the source from its type, flush, round or clamp, and extend the result
// to its register. PTX ISA 9.0, section 9.7.9.21 (cvt).
#include "ir/lower_pure.hpp"

#include <fmt/format.h>

namespace assay::ir::pure {
namespace {

using ptx::Type;

bool is_scalar_float(Type t) { return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64; }
bool is_integer(Type t) { return t >= Type::u8 && t <= Type::s64; }

uint64_t least_of(Type t) { // as 64-bit two's complement
  return ptx::is_signed(t) ? ~uint64_t(0) << (ptx::bits(t) - 1) : 0;
}
uint64_t largest_of(Type t) {
  return ~uint64_t(0) >> (64 - ptx::bits(t) + (ptx::is_signed(t) ? 1 : 0));
}

struct Conversion {
  const ptx::Instruction& i;
  Builder& builder;
  Type to, from;
  std::string rounding; // "rn", "rzi", … or empty
  bool ftz, sat;
};

OpCode code_of(const std::string& name) { return find_code(name).value(); }

// The source in a lane of at least 32 bits that holds its value, with the width of that lane.
Result<Value> load_integer(const Conversion& c, uint32_t& width) {
  Builder& builder = c.builder;
  width = ptx::bits(c.from) == 64 ? 64 : 32;
  const ptx::Operand& operand = c.i.operands[1];
  if (width == 64 || ptx::bits(c.from) == 32) return builder.source(operand, c.from);
  uint32_t declared = builder.register_bits(operand);
  // Read the whole register; the step below takes the low bits.
  Type type = declared == 32 ? Type::b32 : declared == 64 ? c.from : Type::b16;
  ASSAY_SOURCE(raw, operand, type);
  bool is_signed = ptx::is_signed(c.from), is_byte = ptx::bits(c.from) == 8;
  if (!is_signed && !is_byte && type == Type::b16) return raw; // already zero-extended
  Value extended = builder.temp(32);
  builder.emit(is_signed ? (is_byte ? OpCode::sext_b8 : OpCode::sext_b16)
                           : (is_byte ? OpCode::zext_b8 : OpCode::zext_b16),
                 extended, raw);
  return extended;
}

// Clamps a lane of `width` bits, read as `from`, to the range of `to`.
void clamp(const Conversion& c, Chain& chain, uint32_t width, Type from, Type to) {
  Builder& builder = c.builder;
  bool is_signed = ptx::is_signed(from);
  uint64_t mask = ~uint64_t(0) >> (64 - width);
  std::string suffix = fmt::format("_{}{}", is_signed ? 's' : 'u', width);
  if (is_signed && int64_t(least_of(from)) < int64_t(least_of(to)))
    chain.then(code_of(fmt::format("max{}", suffix)), width, builder.constant(least_of(to) & mask, width));
  if (largest_of(from) > largest_of(to))
    chain.then(code_of(fmt::format("min{}", suffix)), width, builder.constant(largest_of(to) & mask, width));
}

// Brings an integer in a lane of `width` bits into the destination register: its low bits, extended by
// the sign of the type to the width of the register.
Result<bool> store_integer(const Conversion& c, Chain& chain, uint32_t width, bool from_signed,
                           bool in_range) {
  Builder& builder = c.builder;
  const ptx::Operand& operand = c.i.operands[0];
  uint32_t bits = ptx::bits(c.to), declared = std::max(builder.register_bits(operand), bits);
  if (declared < 16) declared = 16;
  bool is_signed = ptx::is_signed(c.to);
  if (bits == 64 && width == 32) {
    chain.then(from_signed ? OpCode::sext_b32 : OpCode::zext_b32, 64);
  } else if (bits <= 32) {
    if (width == 64) chain.then(OpCode::low_b32, 32);
    bool known = in_range && width == 32; // the lane already holds the extended value
    if (bits == 8 && !(known && !is_signed && declared <= 32))
      chain.then(is_signed ? OpCode::sext_b8 : OpCode::zext_b8, 32);
    if (bits == 16 && declared > 16 && !known)
      chain.then(is_signed ? OpCode::sext_b16 : OpCode::zext_b16, 32);
    if (declared == 16 && (is_signed || bits == 16)) chain.then(OpCode::zext_b16, 32);
    if (declared == 64) chain.then(is_signed ? OpCode::sext_b32 : OpCode::zext_b32, 64);
  }
  Type type = declared == 64 ? Type::b64 : declared == 16 ? Type::b16 : Type::b32;
  ASSAY_DEST(d, operand, type);
  chain.finish(d, declared == 64 ? 64 : 32);
  return true;
}

Result<bool> integer_to_integer(const Conversion& c) {
  Builder& builder = c.builder;
  uint32_t width = 0;
  auto loaded = load_integer(c, width);
  if (!loaded) return loaded.error();
  Chain chain(builder, *loaded);
  if (c.sat) clamp(c, chain, width, c.from, c.to);
  return store_integer(c, chain, width, ptx::is_signed(c.from), c.sat);
}

// The source as f32 or f64, subnormals flushed when .ftz asks.
Result<Value> load_float(const Conversion& c, Type& type) {
  Builder& builder = c.builder;
  ASSAY_SOURCE(raw, c.i.operands[1], c.from == Type::f64   ? Type::f64
                                     : c.from == Type::f32 ? Type::f32
                                                           : Type::b16);
  type = c.from == Type::f64 ? Type::f64 : Type::f32;
  Chain chain(builder, raw);
  if (c.from == Type::f16) chain.then(OpCode::cvt_f32_f16, 32);
  if (c.from == Type::bf16) chain.then(OpCode::cvt_f32_bf16, 32);
  if (c.from == Type::f32 && c.ftz) chain.then(OpCode::flush_f32, 32);
  return chain.finish();
}

Result<bool> float_to_integer(const Conversion& c) {
  Builder& builder = c.builder;
  Type type;
  auto loaded = load_float(c, type);
  if (!loaded) return loaded.error();
  uint32_t width = ptx::bits(c.to) == 64 ? 64 : 32;
  bool is_signed = ptx::is_signed(c.to);
  std::string lane = fmt::format("{}{}", is_signed ? 's' : 'u', width);
  auto code = find_code(fmt::format("cvt_{}_{}_{}", c.rounding, lane, ptx::spelling(type)));
  if (!code) return unsupported_form(c.i);
  Chain chain(builder, *loaded);
  chain.then(*code, width);
  Type lane_type = is_signed ? (width == 64 ? Type::s64 : Type::s32)
                             : (width == 64 ? Type::u64 : Type::u32);
  clamp(c, chain, width, lane_type, c.to);
  return store_integer(c, chain, width, is_signed, true);
}

// Writes a float of type `to`, clamped when .sat asks.
Result<bool> store_float(const Conversion& c, Chain& chain) {
  Builder& builder = c.builder;
  if (c.sat) {
    auto clamp_code = find_code(fmt::format("sat_{}", ptx::spelling(c.to)));
    if (!clamp_code) return unsupported_form(c.i);
    chain.then(*clamp_code, ptx::bits(c.to));
  }
  ASSAY_DEST(d, c.i.operands[0], c.to);
  chain.finish(d, ptx::bits(c.to));
  return true;
}

Result<bool> integer_to_float(const Conversion& c) {
  Builder& builder = c.builder;
  uint32_t width = 0;
  auto loaded = load_integer(c, width);
  if (!loaded) return loaded.error();
  bool is_signed = ptx::is_signed(c.from);
  Chain chain(builder, *loaded);
  if (width == 32 && (c.to == Type::f16 || c.to == Type::bf16)) {
    chain.then(is_signed ? OpCode::sext_b32 : OpCode::zext_b32, 64);
    width = 64;
  }
  auto code = find_code(fmt::format("cvt_{}_{}_{}{}", c.rounding, ptx::spelling(c.to),
                                    is_signed ? 's' : 'u', width));
  if (!code) return unsupported_form(c.i);
  chain.then(*code, ptx::bits(c.to));
  return store_float(c, chain);
}

bool to_integral(const std::string& rounding) {
  return rounding.size() == 3 && rounding.back() == 'i';
}

Result<bool> float_to_float(const Conversion& c) {
  Builder& builder = c.builder;
  Type type;
  auto loaded = load_float(c, type);
  if (!loaded) return loaded.error();
  Chain chain(builder, *loaded);
  std::string lane(ptx::spelling(type)), target(ptx::spelling(c.to));
  if (to_integral(c.rounding))
    chain.then(code_of(fmt::format("cvt_{0}_{1}_{1}", c.rounding, lane)), ptx::bits(type));
  if (type != c.to) {
    std::string rounding = c.rounding.empty() || to_integral(c.rounding) ? "rn" : c.rounding;
    std::string name = fmt::format("cvt_{}_{}_{}", rounding, target, lane);
    if (type == Type::f32 && c.to == Type::f64) name = "cvt_f64_f32";
    if (type == Type::f64 && c.to == Type::f32 && c.ftz) name = fmt::format("cvt_{}_ftz_f32_f64", rounding);
    auto code = find_code(name);
    if (!code) return unsupported_form(c.i);
    chain.then(*code, ptx::bits(c.to));
  }
  if (has(c.i, ".relu")) {
    auto relu = find_code(fmt::format("relu_{}", target));
    if (!relu) return unsupported_form(c.i);
    chain.then(*relu, ptx::bits(c.to));
  }
  return store_float(c, chain);
}

constexpr std::string_view kRoundings[] = {".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi"};

} // namespace

Result<bool> lower_cvt(const ptx::Instruction& i, Builder& builder) {
  if (find_form(spelling_of(i))) return lower_form(i, builder);
  if (i.modifiers.size() < 2) return unsupported_form(i);
  if (auto enough = need(i, 2); !enough) return enough.error();
  Conversion c{i, builder, ptx::type_from(i.modifiers[i.modifiers.size() - 2]),
               ptx::type_from(i.modifiers.back()), "", has(i, ".ftz"), has(i, ".sat")};
  for (std::string_view mode : kRoundings)
    if (has(i, mode)) c.rounding = mode.substr(1);
  bool plain = i.operands.size() == 2 && !has(i, ".satfinite");
  if (plain && is_integer(c.to) && is_integer(c.from)) return integer_to_integer(c);
  if (plain && is_integer(c.to) && is_scalar_float(c.from)) return float_to_integer(c);
  if (plain && is_scalar_float(c.to) && is_integer(c.from)) return integer_to_float(c);
  if (plain && is_scalar_float(c.to) && is_scalar_float(c.from)) return float_to_float(c);
  return unsupported_form(i);
}

} // namespace assay::ir::pure
