// fma under a given mode. With FMA instructions the mode comes from the control register (the
// caller holds a Control); without them f32 to nearest is a double sum rounded to odd, which a
// second rounding cannot spoil (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums:
// proved algorithms using rounding to odd", 2008), and everything else is fp::fma in integers.
#pragma once

#include "fp/soft.hpp"

namespace assay::fp {

// x + y rounded to odd: the last bit of an inexact sum is set. Needs round to nearest.
ASSAY_FP_INLINE double sum_to_odd(double x, double y) {
  double s = x + y;
  double y_part = s - x, x_part = s - y_part;
  double error = (x - x_part) + (y - y_part); // exact: Knuth's two-sum
  uint64_t b = bits(s);
  bool inexact = (error > 0) | (error < 0); // false for NaN
  uint64_t toward = ((error > 0) == (s > 0)) ? 1 : uint64_t(-1);
  return real(b + ((inexact & ((b & 1) == 0)) ? toward : 0));
}

template <Rounding Mode, bool Ftz> ASSAY_FP_INLINE float fused(float a, float b, float c) {
#ifdef __FMA__
  return canonical(__builtin_fmaf(a, b, c));
#else
  if constexpr (Mode == Rounding::rn && !Ftz)
    return canonical(float(sum_to_odd(double(a) * double(b), double(c))));
  else
    return real(uint32_t(fma(bits(a), bits(b), bits(c), kF32, Mode, Ftz)));
#endif
}
template <Rounding Mode, bool Ftz> ASSAY_FP_INLINE double fused(double a, double b, double c) {
#ifdef __FMA__
  return kept(__builtin_fma(a, b, c), a, c, b);
#else
  double r = real(fma(bits(a), bits(b), bits(c), kF64, Mode, Ftz));
  return kept(r == r ? r : real(0xfff8000000000000ull), a, c, b);
#endif
}

} // namespace assay::fp
