// Fundamental types and state spaces. Source: PTX ISA 9.0, sections 5.1 and 5.2.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::ptx {

enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  u16x2,
  s16x2,
  u8x4,
  s8x4,
  e4m3,
  e5m2,
  e4m3x2,
  e5m2x2,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
  e4m3x4,
  e5m2x4,
  e2m1x4,
  e2m3x4,
  e3m2x4,
  texref,
  samplerref,
  surfref
};

enum class Space : uint8_t {
  none, // generic
  reg,
  sreg,
  constant,
  global,
  local,
  param,
  param_entry,
  param_func,
  shared,
  shared_cta,
  shared_cluster,
  tex
};

Type type_from(std::string_view spelling); // ".f32" or "f32"; Type::none when unknown
std::string_view spelling(Type type);      // "f32"
uint32_t bits(Type type);                  // width of a register of this type; pred is 1
inline bool is_signed(Type t) { return t >= Type::s8 && t <= Type::s64; }
inline bool is_float(Type t) { return t >= Type::f16 && t <= Type::f64; }
Space space_from(std::string_view spelling); // ".global"; Space::none when unknown
std::string_view spelling(Space space);

} // namespace assay::ptx
