// e4m3 and e5m2: conversions with .satfinite (the only kind for these types). PTX ISA 9.0,
// sections 5.2.3 and 9.7.9.21. The canonical NaN is 0x7f; e4m3 has no infinity and its largest
// number is 448.
#pragma once

#include "fp/half.hpp"
#include "fp/soft.hpp"

namespace assay::fp {

inline constexpr uint32_t kNan8 = 0x7f;

inline uint32_t f32_to_e5m2(float x) {
  if (x != x) return kNan8;
  uint32_t r = uint32_t(convert(bits(x), kF32, Format{3, 5}, Rounding::rn));
  return (r & 0x7f) >= 0x7c ? (r & 0x80) | 0x7b : r;
}
// e4m3 numbers scaled by 2^-8 are those of a format with five exponent bits.
inline uint32_t f32_to_e4m3(float x) {
  if (x != x) return kNan8;
  uint32_t sign = bits(x) >> 24 & 0x80;
  if (absolute(x) > 448.0f) return sign | 0x7e;
  Exact value = unpack(bits(x), kF32);
  value.exponent -= 8;
  return uint32_t(round(value, Format{4, 5}, Rounding::rn) & 0x7f) | sign;
}
ASSAY_FP_INLINE uint32_t e5m2_to_f16(uint32_t x) {
  return (x & 0x7f) > 0x7c ? kNan16 : (x & 0xff) << 8;
}
ASSAY_FP_INLINE uint32_t e4m3_to_f16(uint32_t x) {
  uint32_t m = x & 0x7f;
  float scaled = f16_to_f32(m << 7) * 256.0f; // the pattern as f16 has a bias larger by 8
  return m == 0x7f ? kNan16 : f32_to_f16(scaled) | (x & 0x80) << 8;
}

} // namespace assay::fp
