// f16, bf16 and tf32: conversions that vectorise. 16-bit patterns lie in the low half of 32-bit
// lanes. PTX ISA 9.0, sections 5.2.3 and 9.7.9.21 (cvt). NaN becomes canonical in both directions.
#pragma once

#include "fp/fma.hpp"

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

// Toward zero, but infinite from 2^16 on: how the 16-bit approximations narrow their f32 result.
ASSAY_FP_INLINE uint32_t f32_to_f16_cut(float x) {
  uint32_t a = magnitude(bits(x)), sign = bits(x) >> 16 & 0x8000;
  uint32_t normal = (a - (112u << 23)) >> 13;
  uint32_t tiny = uint32_t(int32_t(real(a < 0x38800000u ? a : 0) * 0x1p24f));
  uint32_t r = a < 0x38800000u ? tiny : normal;
  r = a >= 0x47800000u ? 0x7c00 : r;
  return a > 0x7f800000u ? kNan16 : r | sign;
}
ASSAY_FP_INLINE uint32_t f32_to_bf16_cut(float x) { return x == x ? bits(x) >> 16 : kNan16; }

ASSAY_FP_INLINE float bf16_to_f32(uint32_t h) { return real(h << 16); } // payloads stay
ASSAY_FP_INLINE uint32_t f32_to_bf16(float x) {
  uint32_t b = bits(x);
  return x == x ? (b + 0x7fff + (b >> 16 & 1)) >> 16 : kNan16;
}

// The result of an f16 operation with .ftz: `x` before its rounding (exact, or rounded to odd);
// what is tiny after rounding with unbounded exponent becomes zero.
ASSAY_FP_INLINE uint32_t f32_to_f16_ftz(float x) {
  uint32_t sign = bits(x) >> 16 & 0x8000;
  return magnitude(bits(x)) < 0x387ff000u ? sign : f32_to_f16(x);
}
ASSAY_FP_INLINE uint32_t flush_f16(uint32_t h) { return (h & 0x7c00) == 0 ? h & 0x8000 : h; }

// x + y rounded to odd; x and y of at most 22 bits within the range of f16 products. The error term
// is exact, and 24 bits leave room for one more rounding to 11 (Boldo and Melquiond, 2008).
ASSAY_FP_INLINE float sum_to_odd(float x, float y) {
  float s = x + y;
  float y_part = s - x, x_part = s - y_part;
  float error = (x - x_part) + (y - y_part);
  uint32_t b = bits(s);
  uint32_t inexact = (error > 0) | (error < 0);
  uint32_t toward = ((error > 0) == (s > 0)) ? 1 : uint32_t(-1);
  return real(b + ((inexact & ~b & 1) ? toward : 0));
}

// f16 and bf16 behind one interface, so that each operation is written once.
struct F16 {
  static constexpr uint32_t kInfinity = 0x7c00;
  static ASSAY_FP_INLINE float widen(uint32_t h) { return f16_to_f32(h); }
  static ASSAY_FP_INLINE uint32_t narrow(float x) { return f32_to_f16(x); }
  static ASSAY_FP_INLINE uint32_t cut(float x) { return f32_to_f16_cut(x); }
  // The product is exact in f32; sums of two f16 survive two roundings (24 ≥ 2 · 11 + 2).
  static ASSAY_FP_INLINE float fma(float a, float b, float c) { return sum_to_odd(a * b, c); }
};
struct Bf16 {
  static constexpr uint32_t kInfinity = 0x7f80;
  static ASSAY_FP_INLINE float widen(uint32_t h) { return bf16_to_f32(h); }
  static ASSAY_FP_INLINE uint32_t narrow(float x) { return f32_to_bf16(x); }
  static ASSAY_FP_INLINE uint32_t cut(float x) { return f32_to_bf16_cut(x); }
  // Both roundings before the last go to odd: f32 has too few bits for the sum.
  static ASSAY_FP_INLINE float fma(float a, float b, float c) {
    double sum = sum_to_odd(double(a) * double(b), double(c));
    float nearest = float(sum);
    double back = double(nearest);
    uint32_t n = bits(nearest);
    uint32_t inexact = (back < sum) | (back > sum);
    uint32_t toward = absolute(back) < absolute(sum) ? 1 : uint32_t(-1);
    return real(n + ((inexact & ~n & 1) ? toward : 0));
  }
};

// Monotone in the value, −0 below +0.
ASSAY_FP_INLINE int32_t order16(uint32_t h) {
  return int32_t(int16_t(h ^ (h & 0x8000 ? 0x7fff : 0)));
}
template <class T> ASSAY_FP_INLINE bool is_nan16(uint32_t h) { return (h & 0x7fff) > T::kInfinity; }
template <class T> ASSAY_FP_INLINE uint32_t canonical16(uint32_t h) {
  return is_nan16<T>(h) ? kNan16 : h;
}
template <class T> ASSAY_FP_INLINE uint32_t minimum16(uint32_t a, uint32_t b) {
  uint32_t r = order16(a) < order16(b) ? a : b;
  r = is_nan16<T>(a) ? b : r;
  return canonical16<T>(is_nan16<T>(b) ? a : r);
}
template <class T> ASSAY_FP_INLINE uint32_t maximum16(uint32_t a, uint32_t b) {
  uint32_t r = order16(a) > order16(b) ? a : b;
  r = is_nan16<T>(a) ? b : r;
  return canonical16<T>(is_nan16<T>(b) ? a : r);
}
template <class T> ASSAY_FP_INLINE uint32_t nan_of_either16(uint32_t r, uint32_t a, uint32_t b) {
  return (int(is_nan16<T>(a)) | int(is_nan16<T>(b))) ? kNan16 : r;
}
template <class T> ASSAY_FP_INLINE uint32_t xor_sign16(uint32_t r, uint32_t a, uint32_t b) {
  return is_nan16<T>(r) ? r : r | ((a ^ b) & 0x8000);
}
template <class T> ASSAY_FP_INLINE uint32_t rectify16(uint32_t a) {
  return is_nan16<T>(a) ? kNan16 : a & 0x8000 ? 0 : a;
}
template <class T> ASSAY_FP_INLINE uint32_t saturate16(uint32_t a, uint32_t one) {
  return is_nan16<T>(a) || (a & 0x8000) ? 0 : a > one ? one : a;
}

// tf32 keeps 10 fraction bits in an f32 pattern. rna: ties away from zero.
ASSAY_FP_INLINE uint32_t f32_to_tf32_rna(float x) {
  uint32_t b = bits(x);
  uint32_t r = (b & 0x7f800000u) == 0x7f800000u ? b : b + 0x1000;
  return r & ~0x1fffu; // measured: a NaN whose upper bits are zero becomes infinity
}
ASSAY_FP_INLINE uint32_t f32_to_tf32_rn(float x) {
  uint32_t b = bits(x);
  return x == x ? (b + 0xfff + (b >> 13 & 1)) & ~0x1fffu : 0x7fffe000u;
}
ASSAY_FP_INLINE uint32_t f32_to_tf32_rz(float x) {
  return x == x ? bits(x) & ~0x1fffu : 0x7fffe000u;
}

} // namespace assay::fp
