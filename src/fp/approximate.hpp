// The approximate functions of PTX, correctly rounded (but for a few cases in 10^8 where two
// roundings meet): PTX ISA 9.0, section 9.7.3, gives only error bounds. Computed in double by our
// own polynomials, so that every processor gives the same bits and loops over them vectorise.
// Results are double; the caller rounds to its type.
//
// sin and cos follow the documented construction of the hardware: the angle is first turned into
// revolutions by one f32 multiplication, so large angles lose accuracy as they do there.
#pragma once

#include "fp/scalar.hpp"

namespace assay::fp {

inline constexpr double kLn2 = 0x1.62e42fefa39efp-1, kTwoPi = 0x1.921fb54442d18p2;
inline constexpr double kRoundMagic = 0x1.8p52; // x + magic − magic is x to the nearest integer

// 2^x for |x| ≤ 1100. Taylor of e^t for |t| ≤ ln 2 / 2: remainder below 2^-55.
ASSAY_FP_INLINE double power_of_two(double x) {
  double shifted = x + kRoundMagic;
  double t = (x - (shifted - kRoundMagic)) * kLn2;
  double p = 1.0 / 6227020800;
  p = p * t + 1.0 / 479001600;
  p = p * t + 1.0 / 39916800;
  p = p * t + 1.0 / 3628800;
  p = p * t + 1.0 / 362880;
  p = p * t + 1.0 / 40320;
  p = p * t + 1.0 / 5040;
  p = p * t + 1.0 / 720;
  p = p * t + 1.0 / 120;
  p = p * t + 1.0 / 24;
  p = p * t + 1.0 / 6;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  return real(bits(p) + (bits(shifted) << 52)); // the low bits of `shifted` hold the integer
}
ASSAY_FP_INLINE double exp2_of(double x) { // any x; beyond the range of f32 merely huge or tiny
  double low = x < -1000 ? -1000 : x, clamped = low > 1000 ? 1000 : low;
  double r = power_of_two(clamped == clamped ? clamped : 0.0);
  return x == x ? r : x;
}

// log2 of a normal double. log m = 2 atanh((m − 1) / (m + 1)) with m in [√½, √2).
ASSAY_FP_INLINE double log2_of(double x) {
  uint64_t b = bits(x);
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcdull;
  int64_t e = int64_t(b - kRootHalf) >> 52;
  double m = real(b - (uint64_t(e) << 52));
  double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 23;
  p = p * z + 1.0 / 21;
  p = p * z + 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  p = p * z * s + s;
  double r = real(uint64_t(e) + bits(kRoundMagic)) - kRoundMagic + p * (2.0 / kLn2);
  r = x == 0 ? -real(infinity_of(uint64_t(0))) : r;
  r = x > 0x1p1023 ? x : r;
  return x >= 0 ? r : real(kNan64); // also for NaN
}

// sin(2π f) and cos(2π f) for |f| ≤ 1/8.
ASSAY_FP_INLINE double sine_core(double t) {
  double z = t * t, p = -1.0 / 1307674368000;
  p = p * z + 1.0 / 6227020800;
  p = p * z - 1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  return t * (p * z + 1.0); // keeps −0
}
ASSAY_FP_INLINE double cosine_core(double t) {
  double z = t * t, p = 1.0 / 20922789888000;
  p = p * z - 1.0 / 87178291200;
  p = p * z + 1.0 / 479001600;
  p = p * z - 1.0 / 3628800;
  p = p * z + 1.0 / 40320;
  p = p * z - 1.0 / 720;
  p = p * z + 1.0 / 24;
  p = p * z - 0.5;
  return p * z + 1.0;
}
// sin of `turns` revolutions, advanced by `quarters` of one.
ASSAY_FP_INLINE double sine_of_turns(double turns, int quarters) {
  uint64_t zero = bits(turns) & 0x8000000000000000ull;
  turns = real(magnitude(bits(turns))) < 0x1p30 ? turns : real(zero); // f32 there is integral
  double shifted = turns * 4 + kRoundMagic;
  double t = (turns - (shifted - kRoundMagic) * 0.25) * kTwoPi;
  uint64_t quadrant = bits(shifted) + uint64_t(quarters);
  double s = sine_core(t), c = cosine_core(t);
  double r = quadrant & 1 ? c : s;
  return real(bits(r) ^ ((quadrant & 2) << 62));
}

// tanh: (1 − e) / (1 + e) with e = 2^(−2|x| / ln 2); its series where the difference would cancel.
ASSAY_FP_INLINE double tanh_of(double x) {
  double a = real(magnitude(bits(x)));
  double e = exp2_of(a * (-2.0 / kLn2));
  double z = x * x;
  double series = x + x * z * (-1.0 / 3 + z * (2.0 / 15 - z * (17.0 / 315)));
  double r = (1.0 - e) / (1.0 + e);
  double chosen = a < 0x1p-7 ? series : r;
  chosen = real(magnitude(bits(chosen)) | (bits(x) & 0x8000000000000000ull)); // −0 too
  return x == x ? chosen : x;
}

} // namespace assay::fp
