// f16, bf16 and tf32: conversions that vectorise. 16-bit patterns lie in the low half of 32-bit lanes.
// PTX ISA 9.0, sections 5.2.3 and 9.7.9.21 (cvt). NaN becomes canonical in both directions.
#pragma once

#include "fp/scalar.hpp"

namespace assay::fp {

inline constexpr uint32_t kNan16 = 0x7fff;

ASSAY_FP_INLINE float f16_to_f32(uint32_t h) {
  uint32_t m = h & 0x7fff;
  float tiny = float(int32_t(m)) * 0x1p-24f; // exact for subnormals
  uint32_t normal = (m << 13) + (112u << 23);
  uint32_t r = m < 0x400 ? bits(tiny) : normal;
  r = m >= 0x7c00 ? (m == 0x7c00 ? 0x7f800000u : kNan32) : r;
  return real(r | (m > 0x7c00 ? 0 : (h & 0x8000) << 16));
}

// To nearest, ties to even.
ASSAY_FP_INLINE uint32_t f32_to_f16(float x) {
  uint32_t a = magnitude(bits(x)), sign = bits(x) >> 16 & 0x8000;
  uint32_t normal = (a + 0xfff + (a >> 13 & 1) - (112u << 23)) >> 13;
  uint32_t tiny = bits(real(a) + 0.5f) - bits(0.5f); // the last bit of 0.5 is 2^-24
  uint32_t r = a < 0x38800000u ? tiny : normal;
  r = a >= 0x477ff000u ? 0x7c00 : r;
  return a > 0x7f800000u ? kNan16 : r | sign;
}

ASSAY_FP_INLINE float bf16_to_f32(uint32_t h) { return canonical(real(h << 16)); }
ASSAY_FP_INLINE uint32_t f32_to_bf16(float x) {
  uint32_t b = bits(x);
  return x == x ? (b + 0x7fff + (b >> 16 & 1)) >> 16 : kNan16;
}

// tf32 keeps 10 fraction bits in an f32 pattern. rna: ties away from zero.
ASSAY_FP_INLINE uint32_t f32_to_tf32_rna(float x) {
  uint32_t b = bits(x);
  uint32_t r = (b & 0x7f800000u) == 0x7f800000u ? b : (b + 0x1000) & ~0x1fffu;
  return x == x ? r : kNan32;
}
ASSAY_FP_INLINE uint32_t f32_to_tf32_rn(float x) {
  uint32_t b = bits(x);
  return x == x ? (b + 0xfff + (b >> 13 & 1)) & ~0x1fffu : kNan32;
}
ASSAY_FP_INLINE uint32_t f32_to_tf32_rz(float x) { return x == x ? bits(x) & ~0x1fffu : kNan32; }

} // namespace assay::fp
