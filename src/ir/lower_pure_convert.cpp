// cvt as a chain of steps: extend the source from its type, flush, round or clamp, and extend the
// result to its register. PTX ISA 9.0, section 9.7.9.21 (cvt).
#include "ir/lower_pure.hpp"

#include <cstdio>
#include <fmt/format.h>

namespace assay::ir::pure {
namespace {

using ptx::Type;

bool is_scalar_float(Type t) {
  return t == Type::tf32 || t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64;
}
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
    chain.then(code_of(fmt::format("max{}", suffix)), width,
               builder.constant(least_of(to) & mask, width));
  if (largest_of(from) > largest_of(to))
    chain.then(code_of(fmt::format("min{}", suffix)), width,
               builder.constant(largest_of(to) & mask, width));
}

// Brings an integer in a lane of `width` bits into the destination register: its low bits, extended
// by the sign of the type to the width of the register.
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
  ASSAY_SOURCE(raw, c.i.operands[1],
               c.from == Type::f64   ? Type::f64
               : c.from == Type::f32 ? Type::f32
                                     : Type::b16);
  type = c.from == Type::f64 ? Type::f64 : Type::f32;
  Chain chain(builder, raw);
  if (c.from == Type::f16) chain.then(OpCode::cvt_f32_f16, 32);
  if (c.from == Type::bf16) chain.then(OpCode::cvt_f32_bf16, 32);
  // A subnormal bf16 is a subnormal f32, which the H200 flushes too; one of f16 is a normal f32.
  if (type == Type::f32 && c.ftz) chain.then(OpCode::flush_f32, 32);
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
  Type lane_type =
      is_signed ? (width == 64 ? Type::s64 : Type::s32) : (width == 64 ? Type::u64 : Type::u32);
  clamp(c, chain, width, lane_type, c.to);
  if (type == Type::f64 && ptx::bits(c.to) < 32 && !is_signed) { // NaN is the top bit of the type
    Value clamped = chain.finish(), p = builder.temp(1);
    builder.emit(OpCode::setp_nan_f64, p, *loaded, *loaded);
    Value nan = builder.constant(uint64_t(1) << (ptx::bits(c.to) - 1), 32);
    Value chosen = builder.temp(32);
    builder.emit(OpCode::selp_b32, chosen, nan, clamped, p);
    chain = Chain(builder, chosen);
  }
  return store_integer(c, chain, width, is_signed, true);
}

// Writes a float of type `to`, clamped when .sat asks.
Result<bool> store_float(const Conversion& c, Chain& chain) {
  Builder& builder = c.builder;
  if (c.sat) {
    if (c.to == Type::f64) { // no operation of its own: max drops NaN, and puts +0 above −0
      chain.then(OpCode::max_f64, 64, builder.constant(0, 64));
      chain.then(OpCode::min_f64, 64, builder.constant(0x3ff0000000000000, 64));
    } else {
      auto clamp_code = find_code(fmt::format("sat_{}", ptx::spelling(c.to)));
      if (!clamp_code) return unsupported_form(c.i);
      chain.then(*clamp_code, ptx::bits(c.to));
    }
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
  auto code = find_code(
      fmt::format("cvt_{}_{}_{}{}", c.rounding, ptx::spelling(c.to), is_signed ? 's' : 'u', width));
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
  if (has(c.i, ".relu")) {
    if (type != Type::f32) return unsupported_form(c.i);
    chain.then(OpCode::relu_f32, 32);
  }
  if (to_integral(c.rounding))
    chain.then(code_of(fmt::format("cvt_{0}_{1}_{1}", c.rounding, lane)), ptx::bits(type));
  if (type != c.to) {
    std::string rounding = c.rounding.empty() || to_integral(c.rounding) ? "rn" : c.rounding;
    std::string name = fmt::format("cvt_{}_{}_{}", rounding, target, lane);
    if (type == Type::f32 && c.to == Type::f64) name = "cvt_f64_f32";
    if (type == Type::f64 && c.to == Type::f32 && c.ftz)
      name = fmt::format("cvt_{}_ftz_f32_f64", rounding);
    auto code = find_code(name);
    if (!code) return unsupported_form(c.i);
    chain.then(*code, ptx::bits(c.to));
  }
  return store_float(c, chain);
}

// -- pairs: f16x2, bf16x2, e4m3x2, e5m2x2 ---------------------------------------------------------

Type half_of(Type type) {
  switch (type) {
  case Type::f16x2: return Type::f16;
  case Type::bf16x2: return Type::bf16;
  case Type::e4m3x2: return Type::e4m3;
  case Type::e5m2x2: return Type::e5m2;
  default: return Type::none;
  }
}

// Both halves of the destination from two f32 registers (the first is the upper) or a packed one.
Result<bool> load_pair(const Conversion& c, Value (&halves)[2]) {
  Builder& builder = c.builder;
  Type from = half_of(c.from);
  if (c.from == Type::f32) {
    if (auto enough = need(c.i, 3); !enough) return enough.error();
    ASSAY_SOURCE(high, c.i.operands[1], Type::f32);
    ASSAY_SOURCE(low, c.i.operands[2], Type::f32);
    halves[0] = low, halves[1] = high;
    return true;
  }
  bool bytes = from == Type::e4m3 || from == Type::e5m2;
  ASSAY_SOURCE(packed, c.i.operands[1], bytes ? Type::b16 : Type::b32);
  for (int side = 0; side < 2; ++side) {
    Chain chain(builder, packed);
    if (bytes) {
      if (side) chain.then(OpCode::shr_u32, 32, builder.constant(8, 32));
      chain.then(OpCode::zext_b8, 32);
      chain.then(from == Type::e4m3 ? OpCode::cvt_f16_e4m3 : OpCode::cvt_f16_e5m2, 16);
    } else {
      chain.then(side ? OpCode::high_b16 : OpCode::low_b16, 16);
      chain.then(from == Type::f16 ? OpCode::cvt_f32_f16 : OpCode::cvt_f32_bf16, 32);
    }
    halves[side] = chain.finish();
  }
  return true;
}

// cvt between packed pairs and from two f32; false when no pair is involved.
Result<bool> lower_packed(const Conversion& c) {
  Builder& builder = c.builder;
  Type to = half_of(c.to), from = half_of(c.from);
  if (to == Type::none && from == Type::none) return false;
  bool bytes_to = to == Type::e4m3 || to == Type::e5m2;
  bool bytes_from = from == Type::e4m3 || from == Type::e5m2;
  bool executed =
      bytes_from ? c.to == Type::f16x2
                 : to != Type::none && (c.from == Type::f32 || (bytes_to && from == Type::f16));
  if (!executed || (has(c.i, ".satfinite") && !bytes_to) || has(c.i, ".rs"))
    return unsupported_form(c.i);
  Value halves[2];
  if (auto loaded = load_pair(c, halves); !loaded) return loaded.error();
  for (Value& half : halves) {
    Chain chain(builder, half);
    std::string target(ptx::spelling(to));
    if (has(c.i, ".relu")) {
      auto relu = find_code(bytes_from ? "relu_f16" : "relu_f32");
      chain.then(relu.value(), bytes_from ? 16 : 32);
    }
    if (!bytes_from) {
      if (c.ftz) chain.then(OpCode::flush_f32, 32);
      auto code = find_code(fmt::format("cvt_{}_{}_f32", c.rounding, target));
      if (!code) return unsupported_form(c.i);
      chain.then(*code, 32);
    }
    half = chain.finish();
  }
  ASSAY_DEST(d, c.i.operands[0], bytes_to ? Type::b16 : Type::b32);
  if (bytes_to) {
    Value shifted = builder.temp(16);
    builder.emit(OpCode::shl_b16, shifted, halves[1], builder.constant(8, 32));
    builder.emit(OpCode::or_b32, d, halves[0], shifted);
  } else {
    builder.emit(OpCode::pack_b32, d, halves[0], halves[1]);
  }
  return true;
}

// cvt.pack.sat.type.s32{.b32} d, a, b{, c}: a and b clamped, side by side with b lowest, below c.
Result<bool> lower_cvt_pack(const ptx::Instruction& i, Builder& builder) {
  if (i.modifiers.size() < 4 || i.modifiers[1] != ".sat" || i.modifiers[3] != ".s32")
    return unsupported_form(i);
  unsigned width = 0;
  char sign = 0;
  if (std::sscanf(i.modifiers[2].c_str(), ".%c%u", &sign, &width) != 2 || width > 16)
    return unsupported_form(i);
  if (auto enough = need(i, width == 16 ? 3 : 4); !enough) return enough.error();
  uint32_t low = sign == 's' ? ~0u << (width - 1) : 0;
  uint32_t high = sign == 's' ? ~low : (1u << width) - 1;
  Value parts[2]; // b, a
  for (int k = 0; k < 2; ++k) {
    ASSAY_SOURCE(value, i.operands[2 - k], Type::s32);
    Chain chain(builder, value);
    chain.then(OpCode::max_s32, 32, builder.constant(low, 32));
    chain.then(OpCode::min_s32, 32, builder.constant(high, 32));
    chain.then(OpCode::and_b32, 32, builder.constant((1u << width) - 1, 32));
    if (k) chain.then(OpCode::shl_b32, 32, builder.constant(width, 32));
    parts[k] = chain.finish();
  }
  ASSAY_DEST(d, i.operands[0], Type::b32);
  if (width == 16) {
    builder.emit(OpCode::or_b32, d, parts[0], parts[1]);
    return true;
  }
  Value both = builder.temp(32), upper = builder.temp(32);
  ASSAY_SOURCE(c, i.operands[3], Type::b32);
  builder.emit(OpCode::or_b32, both, parts[0], parts[1]);
  builder.emit(OpCode::shl_b32, upper, c, builder.constant(2 * width, 32));
  builder.emit(OpCode::or_b32, d, both, upper);
  return true;
}

constexpr std::string_view kRoundings[] = {".rn",  ".rz",  ".rm",  ".rp", ".rna",
                                           ".rni", ".rzi", ".rmi", ".rpi"};

} // namespace

Result<bool> lower_cvt(const ptx::Instruction& i, Builder& builder) {
  if (i.modifiers.size() < 2) return unsupported_form(i);
  if (auto enough = need(i, 2); !enough) return enough.error();
  Conversion c{i,
               builder,
               ptx::type_from(i.modifiers[i.modifiers.size() - 2]),
               ptx::type_from(i.modifiers.back()),
               "",
               has(i, ".ftz"),
               has(i, ".sat")};
  for (std::string_view mode : kRoundings)
    if (has(i, mode)) c.rounding = mode.substr(1);
  if (has(i, ".pack")) return lower_cvt_pack(i, builder);
  if (auto packed = lower_packed(c); !packed || *packed) return packed;
  bool plain = i.operands.size() == 2 && !has(i, ".satfinite");
  if (plain && is_integer(c.to) && is_integer(c.from)) return integer_to_integer(c);
  if (plain && is_integer(c.to) && is_scalar_float(c.from)) return float_to_integer(c);
  if (plain && is_scalar_float(c.to) && is_integer(c.from)) return integer_to_float(c);
  if (plain && is_scalar_float(c.to) && is_scalar_float(c.from)) return float_to_float(c);
  return unsupported_form(i);
}

} // namespace assay::ir::pure
