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

// Elements of one matrix in fixed point: significand with sign, stored exponent; zeros have an
// exponent that never is the largest. Infinities and NaN are kept apart.
template <int Rows, int Columns> struct TensorOperand {
  int32_t significand[Rows][Columns];
  int32_t exponent[Rows][Columns];
  uint8_t special[Rows][Columns]; // 0 finite, 1 infinite, 2 NaN; 4 is the sign of an infinity
  bool any_special = false;

  void set(int row, int column, uint32_t pattern, Format format) {
    int fraction = format.precision - 1, top = (1 << format.exponent_bits) - 1;
    int field = int(pattern >> fraction) & top;
    int32_t bits = int32_t(pattern & ((1u << fraction) - 1));
    bool negative = pattern & sign_bit(format);
    int32_t value = field == 0 ? bits : bits | 1 << fraction;
    bool finite = field != top;
    uint8_t kind = uint8_t(finite ? 0 : (bits ? 2 : 1) | (negative ? 4 : 0));
    special[row][column] = kind;
    any_special |= !finite;
    if (!finite) value = 0;
    significand[row][column] = negative ? -value : value;
    exponent[row][column] = value == 0 ? -4096 : (field == 0 ? 1 : field) - bias(format);
  }
};

struct TensorProblem {
  int m, n, k;
  Format ab;
  bool half_result; // C and D are f16
  TensorOperand<kTensorM, kTensorK> a;
  TensorOperand<kTensorK, kTensorN> b;
  uint32_t c[kTensorM][kTensorN]; // patterns; D after tensor_multiply
};

// Of one row, the exact sum of a group in units of 2^(exponent − F), as doubles.
ASSAY_FP_INLINE void tensor_row(const TensorProblem& p, const TensorUnit& unit, int row, int k0,
                                int k1, const TensorOperand<1, kTensorN>& c, double* total) {
  int32_t largest[kTensorN];
  for (int j = 0; j < kTensorN; ++j)
    largest[j] = c.exponent[0][j] > unit.floor ? c.exponent[0][j] : unit.floor;
  for (int k = k0; k < k1; ++k)
    for (int j = 0; j < kTensorN; ++j) {
      int32_t e = p.a.exponent[row][k] + p.b.exponent[k][j];
      largest[j] = e > largest[j] ? e : largest[j];
    }
  int c_up = unit.fraction_bits - (p.half_result ? 10 : 23);
  int up = unit.fraction_bits - 2 * (p.ab.precision - 1);
  int32_t sums[kTensorN] = {};
  for (int j = 0; j < kTensorN; ++j) {
    int32_t s = c.significand[0][j], away = largest[j] - c.exponent[0][j];
    int32_t t = ((s < 0 ? -s : s) << c_up) >> (away < 31 ? away : 31);
    total[j] = s < 0 ? -t : t;
  }
  for (int k = k0; k < k1; ++k) {
    for (int j = 0; j < kTensorN; ++j) {
      int32_t product = p.a.significand[row][k] * p.b.significand[k][j];
      int32_t away = largest[j] - (p.a.exponent[row][k] + p.b.exponent[k][j]);
      int32_t t = ((product < 0 ? -product : product) << up) >> (away < 31 ? away : 31);
      sums[j] += product < 0 ? -t : t;
    }
    if ((k & 7) == 7 || k + 1 == k1) // eight terms below 2^28 fit
      for (int j = 0; j < kTensorN; ++j) {
        total[j] += sums[j];
        sums[j] = 0;
      }
  }
  for (int j = 0; j < kTensorN; ++j)
    total[j] *= real(uint64_t(largest[j] - unit.fraction_bits + 1023) << 52);
}

// What infinities and NaN of a row and column make of the result; false when there are none.
inline bool tensor_special(const TensorProblem& p, int row, int column, int k0, int k1,
                           uint8_t c_kind, uint32_t& result) {
  bool nan = c_kind & 2, plus = (c_kind & 5) == 1, minus = (c_kind & 5) == 5;
  for (int k = k0; k < k1; ++k) {
    uint8_t x = p.a.special[row][k], y = p.b.special[k][column];
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
  Format acc = p.half_result ? kF16 : kF32;
  for (int row = 0; row < p.m; ++row)
    for (int k0 = 0; k0 < p.k; k0 += group) {
      int k1 = k0 + group < p.k ? k0 + group : p.k;
      TensorOperand<1, kTensorN> c;
      for (int j = 0; j < kTensorN; ++j) c.set(0, j, p.c[row][j], acc);
      double total[kTensorN];
      tensor_row(p, unit, row, k0, k1, c, total);
      tensor_round(p.half_result, total, p.c[row]);
      if (!(p.a.any_special | p.b.any_special | c.any_special)) continue;
      for (int j = 0; j < kTensorN; ++j) {
        uint32_t result;
        if (tensor_special(p, row, j, k0, k1, c.special[0][j], result)) p.c[row][j] = result;
      }
    }
}

} // namespace assay::fp
