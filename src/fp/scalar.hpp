// Single and double precision as NVIDIA computes it: PTX ISA 9.0, section 9.7.3. Results that are
// NaN are the canonical one; min and max prefer numbers and order −0 below +0; .ftz flushes inputs
// and results to zeros of the same sign. All functions are free of branches, so that loops over
// them vectorise. Rounding modes and .ftz of the basic operations come from the processor's control
// register (fp/control.hpp).
#pragma once

#include <bit>
#include <cstdint>

#define ASSAY_FP_INLINE inline __attribute__((always_inline))

namespace assay::fp {

enum class Rounding : uint8_t { rn, rz, rm, rp };

inline constexpr uint32_t kNan32 = 0x7fffffffu;
inline constexpr uint64_t kNan64 = 0x7fffffffffffffffull;

ASSAY_FP_INLINE uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
ASSAY_FP_INLINE uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }
ASSAY_FP_INLINE float real(uint32_t x) { return std::bit_cast<float>(x); }
ASSAY_FP_INLINE double real(uint64_t x) { return std::bit_cast<double>(x); }
ASSAY_FP_INLINE double real(unsigned long long x) { return std::bit_cast<double>(x); }

ASSAY_FP_INLINE uint32_t magnitude(uint32_t x) { return x & 0x7fffffffu; }
ASSAY_FP_INLINE uint64_t magnitude(uint64_t x) { return x & 0x7fffffffffffffffull; }
ASSAY_FP_INLINE uint32_t infinity_of(uint32_t) { return 0x7f800000u; }
ASSAY_FP_INLINE uint64_t infinity_of(uint64_t) { return 0x7ff0000000000000ull; }
ASSAY_FP_INLINE uint32_t least_normal_of(uint32_t) { return 0x00800000u; }
ASSAY_FP_INLINE uint64_t least_normal_of(uint64_t) { return 0x0010000000000000ull; }

ASSAY_FP_INLINE float canonical(float x) { return x == x ? x : real(kNan32); }
ASSAY_FP_INLINE double canonical(double x) { return x == x ? x : real(kNan64); }

// f64 keeps the payloads of NaN operands, made quiet; the later operand in the call wins. A NaN
// that the operation makes itself is 0xfff8000000000000, on x86 too. Measured on sm_90.
ASSAY_FP_INLINE double quiet(double x) { return real(bits(x) | 0x0008000000000000ull); }
ASSAY_FP_INLINE double kept(double r, double a) { return a == a ? r : quiet(a); }
ASSAY_FP_INLINE double kept(double r, double a, double b) { return kept(kept(r, a), b); }
ASSAY_FP_INLINE double kept(double r, double a, double b, double c) {
  return kept(kept(kept(r, a), b), c);
}

// Subnormals to zero of the same sign.
ASSAY_FP_INLINE float flush(float x) {
  uint32_t b = bits(x);
  return real((b & 0x7f800000u) == 0 ? b & 0x80000000u : b);
}

// Clamp to [0, 1]; NaN and −0 become +0.
ASSAY_FP_INLINE float saturate(float x) {
  float low = x > 0.0f ? x : 0.0f;
  return low < 1.0f ? low : 1.0f;
}

// .relu: negative numbers and −0 become +0.
ASSAY_FP_INLINE float rectify(float x) {
  float positive = x > 0.0f ? x : 0.0f;
  return x == x ? positive : real(kNan32);
}

// Two NaNs leave a NaN that the caller makes canonical or, in f64, keeps.
template <class T> ASSAY_FP_INLINE T lesser(T a, T b) {
  T less = a < b ? a : b;
  T number = b == b ? less : a;
  return a == b ? real(bits(a) | bits(b)) : number;
}
template <class T> ASSAY_FP_INLINE T greater(T a, T b) {
  T more = a > b ? a : b;
  T number = b == b ? more : a;
  return a == b ? real(bits(a) & bits(b)) : number;
}
ASSAY_FP_INLINE float minimum(float a, float b) { return canonical(lesser(a, b)); }
ASSAY_FP_INLINE float maximum(float a, float b) { return canonical(greater(a, b)); }
ASSAY_FP_INLINE double minimum(double a, double b) {
  double r = lesser(a, b);
  return ((a == a) | (b == b)) ? r : quiet(b);
}
ASSAY_FP_INLINE double maximum(double a, double b) {
  double r = greater(a, b);
  return ((a == a) | (b == b)) ? r : quiet(b);
}
// .NaN: a NaN on either side is the result.
ASSAY_FP_INLINE float minimum_nan(float a, float b) {
  float less = minimum(a, b);
  return ((a == a) & (b == b)) ? less : real(kNan32);
}
ASSAY_FP_INLINE float maximum_nan(float a, float b) {
  float more = maximum(a, b);
  return ((a == a) & (b == b)) ? more : real(kNan32);
}

ASSAY_FP_INLINE float absolute(float a) { return real(magnitude(bits(a))); }
ASSAY_FP_INLINE double absolute(double a) { return real(magnitude(bits(a))); }
ASSAY_FP_INLINE float negative(float a) { return real(bits(a) ^ 0x80000000u); }
ASSAY_FP_INLINE double negative(double a) { return real(bits(a) ^ 0x8000000000000000ull); }
// The magnitude of `r` with the exclusive or of two signs (.xorsign.abs); NaN stays canonical.
ASSAY_FP_INLINE float xor_sign(float r, float a, float b) {
  float result = real(bits(r) | ((bits(a) ^ bits(b)) & 0x80000000u));
  return r == r ? result : r;
}
// copysign d, a, b: the sign of a, the magnitude of b.
ASSAY_FP_INLINE uint32_t copy_sign(uint32_t a, uint32_t b) {
  return (a & 0x80000000u) | magnitude(b);
}
ASSAY_FP_INLINE uint64_t copy_sign(uint64_t a, uint64_t b) {
  return (a & 0x8000000000000000ull) | magnitude(b);
}

} // namespace assay::fp
