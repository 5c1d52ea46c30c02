// Float to integer as cvt does it: PTX ISA 9.0, section 9.7.9.21. Out of range values clamp. NaN
// gives 0 between f32 (or narrower) and at most 32 bits, else 1 << (width − 1).
#pragma once

#include "fp/scalar.hpp"

#include <limits>
#include <type_traits>

namespace assay::fp {

template <Rounding Mode> ASSAY_FP_INLINE float integral(float x) {
  if constexpr (Mode == Rounding::rn) return __builtin_rintf(x);
  if constexpr (Mode == Rounding::rz) return __builtin_truncf(x);
  if constexpr (Mode == Rounding::rm) return __builtin_floorf(x);
  return __builtin_ceilf(x);
}
template <Rounding Mode> ASSAY_FP_INLINE double integral(double x) {
  if constexpr (Mode == Rounding::rn) return __builtin_rint(x);
  if constexpr (Mode == Rounding::rz) return __builtin_trunc(x);
  if constexpr (Mode == Rounding::rm) return __builtin_floor(x);
  return __builtin_ceil(x);
}

template <class I, Rounding Mode, class T> ASSAY_FP_INLINE I to_integer(T x) {
  using U = std::make_unsigned_t<I>;
  constexpr int kBits = int(sizeof(I) * 8), kValueBits = kBits - (std::is_signed_v<I> ? 1 : 0);
  constexpr T kEnd = T(uint64_t(1) << (kValueBits - 1)) * 2; // one beyond the largest
  constexpr T kLow = std::is_signed_v<I> ? -kEnd : T(0);
  constexpr bool kZeroNan = sizeof(T) == 4 && kBits == 32;
  constexpr I kNan = kZeroNan ? I(0) : I(U(1) << (kBits - 1));
  T whole = integral<Mode>(x);
  bool below = whole < kLow, above = whole >= kEnd;
  I r = I((below | above | (x != x)) ? T(0) : whole);
  r = below ? std::numeric_limits<I>::min() : r;
  r = above ? std::numeric_limits<I>::max() : r;
  return x == x ? r : kNan;
}

} // namespace assay::fp
