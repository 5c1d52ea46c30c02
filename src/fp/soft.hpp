// Exact values and their one rounding, in integers: for conversions and fma where the processor has
// no instruction that rounds once. A finite value is sign · significand · 2^exponent, and `sticky`
// says that a nonzero part below the significand's last bit is missing.
#pragma once

#include "fp/scalar.hpp"

namespace assay::fp {

using Wide = unsigned __int128;

struct Format {
  int precision; // significand bits with the hidden one
  int exponent_bits;
};
inline constexpr Format kF16{11, 5}, kBf16{8, 8}, kTf32{11, 8}, kF32{24, 8}, kF64{53, 11};

struct Exact {
  bool negative = false;
  int exponent = 0;
  Wide significand = 0;
  bool sticky = false;
};

constexpr int bias(Format f) { return (1 << (f.exponent_bits - 1)) - 1; }
constexpr uint64_t infinity(Format f) {
  return ((uint64_t(1) << f.exponent_bits) - 1) << (f.precision - 1);
}
constexpr uint64_t sign_bit(Format f) { return uint64_t(1) << (f.precision - 1 + f.exponent_bits); }

int top_bit(Wide x); // index of the highest set bit; −1 for 0

// A finite pattern as an exact value.
Exact unpack(uint64_t pattern, Format format);
// The pattern of the value rounded once; overflow gives infinity or the largest number by mode.
// A zero result keeps `negative`.
uint64_t round(Exact value, Format format, Rounding mode);
// a + b; of a zero sum of nonzero values the sign follows the mode.
Exact sum(Exact a, Exact b, Rounding mode);

// One rounding from any format to any; a NaN keeps sign and the top of its payload and is quiet, as
// cvt from f64 does.
uint64_t convert(uint64_t pattern, Format from, Format to, Rounding mode);
uint64_t from_integer(uint64_t magnitude, bool negative, Format to, Rounding mode);

// a · b + c rounded once, with subnormal operands and tiny results flushed when `ftz`.
uint64_t fma(uint64_t a, uint64_t b, uint64_t c, Format format, Rounding mode, bool ftz);

} // namespace assay::fp
