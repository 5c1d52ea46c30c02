// The tensor core: D = A·B + C of one instruction, bit for bit. Products are exact; the terms of a
// group along K and the accumulator are aligned to the largest exponent, each truncated toward zero
// to F fraction bits, summed exactly and rounded once; groups are chained. Sources: arXiv
// 2511.10909 and 2512.07004 for the other architectures; measured for sm_90 (bench/results): F =
// 25, one group, an exponent floor of −133, the exponent of a product being the sum of the stored
// exponents.
//
// f32 results round toward zero with +0 for every zero, f16 results to nearest. f64 is a chain of
// fma.
#pragma once

#include "fp/control.hpp"
#include "fp/fma.hpp"
#include "fp/half.hpp"
#include "fp/soft.hpp"

namespace assay::fp {

struct TensorUnit {
  int fraction_bits;
  int group_bytes; // of a row of A
  int floor;       // the alignment exponent is never below
};

constexpr TensorUnit tensor_unit(uint32_t compute_capability) {
  if (compute_capability < 75) return {23, 8, -131};
  if (compute_capability < 90) return {24, 16, -132};
  return {25, 32, -133};
}

inline constexpr int kTensorM = 16, kTensorN = 8, kTensorK = 32;

// Elements of one matrix: patterns, then fixed point: significand with sign and stored exponent.
// Zeros, infinities and NaN have no significand and an exponent that never is the largest.
template <int Rows, int Columns> struct TensorOperand {
  uint32_t pattern[Rows][Columns];
  int32_t significand[Rows][Columns];
  int32_t exponent[Rows][Columns];
  bool any_special;

  ASSAY_FP_INLINE void decode(Format format) {
    int32_t fraction = format.precision - 1, top = (1 << format.exponent_bits) - 1;
    int32_t hidden = 1 << fraction, offset = bias(format), special = 0;
    int32_t sign = fraction + format.exponent_bits;
    const uint32_t* from = &pattern[0][0];
    int32_t *to = &significand[0][0], *power = &exponent[0][0];
    for (int i = 0; i < Rows * Columns; ++i) {
      int32_t p = int32_t(from[i]), field = (p >> fraction) & top, low = p & (hidden - 1);
      int32_t value = field == 0 ? low : low | hidden;
      value = field == top ? 0 : value;
      special |= field == top ? 1 : 0;
      to[i] = (p >> sign) & 1 ? -value : value;
      power[i] = value == 0 ? -4096 : (field == 0 ? 1 : field) - offset;
    }
    any_special = special != 0;
  }
};

// What an element is besides a number: 0 finite, 1 infinite, 2 NaN; 4 is the sign of an infinity.
inline uint32_t tensor_kind(uint32_t pattern, Format format) {
  uint32_t magnitude = pattern & uint32_t(sign_bit(format) - 1);
  if (magnitude < infinity(format)) return 0;
  if (magnitude > infinity(format)) return 2;
  return pattern & sign_bit(format) ? 5 : 1;
}

struct TensorProblem {
  int m, n, k;
  Format ab;
  bool half_result; // C and D are f16
  TensorOperand<kTensorM, kTensorK> a;
  TensorOperand<kTensorK, kTensorN> b;
  uint32_t c[kTensorM][kTensorN]; // patterns; D after tensor_multiply
};

// A row of eight results: vectors, as loops over so few elements end up scalar.
using TensorVector = int32_t __attribute__((vector_size(4 * kTensorN)));
using TensorDoubles = double __attribute__((vector_size(8 * kTensorN)));
ASSAY_FP_INLINE TensorVector tensor_load(const int32_t* from) {
  TensorVector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
ASSAY_FP_INLINE TensorVector tensor_align(TensorVector value, int up, TensorVector away) {
  TensorVector sign = value >> 31, magnitude = (value ^ sign) - sign;
  away = away < 31 ? away : TensorVector{} + 31;
  return ((((magnitude << up) >> away)) ^ sign) - sign;
}

// Of one row, the exact sum of a group in units of 2^(exponent − F), as doubles.
ASSAY_FP_INLINE void tensor_row(const TensorProblem& p, const TensorUnit& unit, int row, int k0,
                                int k1, const TensorOperand<1, kTensorN>& c, double* total) {
  const int32_t *a_power = p.a.exponent[row], *a_value = p.a.significand[row];
  TensorVector c_power = tensor_load(c.exponent[0]), largest = TensorVector{} + unit.floor;
  largest = c_power > largest ? c_power : largest;
  for (int k = k0; k < k1; ++k) {
    TensorVector e = a_power[k] + tensor_load(p.b.exponent[k]);
    largest = e > largest ? e : largest;
  }
  int c_up = unit.fraction_bits - (p.half_result ? 10 : 23);
  int up = unit.fraction_bits - 2 * (p.ab.precision - 1);
  TensorVector sums = tensor_align(tensor_load(c.significand[0]), c_up, largest - c_power);
  TensorDoubles totals = {};
  for (int k = k0; k < k1; k += 4) { // four terms below 2^28 and one below 2^27 fit
    for (int i = k; i < k + 4 && i < k1; ++i) {
      TensorVector e = a_power[i] + tensor_load(p.b.exponent[i]);
      TensorVector product = a_value[i] * tensor_load(p.b.significand[i]);
      sums += tensor_align(product, up, largest - e);
    }
    totals += __builtin_convertvector(sums, TensorDoubles);
    sums = TensorVector{};
  }
  for (int j = 0; j < kTensorN; ++j)
    total[j] = totals[j] * real(uint64_t(int64_t(largest[j]) - unit.fraction_bits + 1023) << 52);
}

// What infinities and NaN of a row and column make of the result; false when there are none.
inline bool tensor_special(const TensorProblem& p, int row, int column, int k0, int k1,
                           uint32_t c_kind, uint32_t& result) {
  bool nan = c_kind & 2, plus = (c_kind & 5) == 1, minus = (c_kind & 5) == 5;
  for (int k = k0; k < k1; ++k) {
    uint32_t x = tensor_kind(p.a.pattern[row][k], p.ab);
    uint32_t y = tensor_kind(p.b.pattern[k][column], p.ab);
    if (!((x | y) & 3)) continue;
    int32_t sx = p.a.significand[row][k], sy = p.b.significand[k][column];
    bool zero = (!(x & 3) && sx == 0) || (!(y & 3) && sy == 0);
    bool negative = ((x & 3) ? (x & 4) != 0 : sx < 0) != ((y & 3) ? (y & 4) != 0 : sy < 0);
    nan |= ((x | y) & 2) || zero;
    (negative ? minus : plus) = true;
  }
  if (!nan && !plus && !minus) return false;
  bool is_nan = nan || (plus && minus);
  if (p.half_result)
    result = is_nan ? kNan16 : minus ? 0xfc00 : 0x7c00;
  else
    result = is_nan ? kNan32 : minus ? 0xff800000u : 0x7f800000u;
  return true;
}

// The patterns of a row's results, the inexact step toward zero.
ASSAY_FP_INLINE void tensor_round(bool half, const double* total, uint32_t* out) {
  float toward_zero[kTensorN];
  {
    Control<Rounding::rz, false> control;
    for (int j = 0; j < kTensorN; ++j) toward_zero[j] = float(total[j]) + 0.0f; // −0 becomes +0
  }
  for (int j = 0; j < kTensorN; ++j) {
    float limited = total[j] >= 0x1p128 ? real(0x7f800000u) : toward_zero[j];
    limited = total[j] <= -0x1p128 ? real(0xff800000u) : limited;
    uint32_t inexact = double(toward_zero[j]) != total[j];
    uint32_t to_odd = bits(toward_zero[j]) | inexact | (total[j] < 0 ? 0x80000000u : 0);
    out[j] = half ? f32_to_f16(real(to_odd)) : bits(limited);
  }
}

ASSAY_FP_INLINE void tensor_multiply(TensorProblem& p, const TensorUnit& unit, int element_bytes) {
  int group = unit.group_bytes / element_bytes;
  p.a.decode(p.ab);
  p.b.decode(p.ab);
  Format acc = p.half_result ? kF16 : kF32;
  for (int row = 0; row < p.m; ++row)
    for (int k0 = 0; k0 < p.k; k0 += group) {
      int k1 = k0 + group < p.k ? k0 + group : p.k;
      TensorOperand<1, kTensorN> c;
      for (int j = 0; j < kTensorN; ++j) c.pattern[0][j] = p.c[row][j];
      c.decode(acc);
      double total[kTensorN];
      tensor_row(p, unit, row, k0, k1, c, total);
      tensor_round(p.half_result, total, p.c[row]);
      if (!(p.a.any_special | p.b.any_special | c.any_special)) continue;
      for (int j = 0; j < kTensorN; ++j) {
        uint32_t result;
        uint32_t c_kind = tensor_kind(c.pattern[0][j], acc);
        if (tensor_special(p, row, j, k0, k1, c_kind, result)) p.c[row][j] = result;
      }
    }
}

} // namespace assay::fp
