// Exact values and their rounding; see soft.hpp.
#include "fp/soft.hpp"

#include <utility>

namespace assay::fp {

int top_bit(Wide x) {
  uint64_t high = uint64_t(x >> 64), low = uint64_t(x);
  if (high) return 127 - __builtin_clzll(high);
  return low ? 63 - __builtin_clzll(low) : -1;
}

Exact unpack(uint64_t pattern, Format format) {
  int fraction_bits = format.precision - 1;
  uint64_t fraction = pattern & ((uint64_t(1) << fraction_bits) - 1);
  int field = int(pattern >> fraction_bits) & ((1 << format.exponent_bits) - 1);
  Exact value;
  value.negative = pattern & sign_bit(format);
  value.significand = field == 0 ? fraction : fraction | uint64_t(1) << fraction_bits;
  value.exponent = (field == 0 ? 1 : field) - bias(format) - fraction_bits;
  return value;
}

namespace {

// Drops `count` low bits into guard and sticky, and says whether to round the magnitude up.
bool drop(Wide& significand, int count, bool sticky, bool negative, Rounding mode) {
  bool guard = false;
  if (count > 127) {
    sticky |= significand != 0;
    significand = 0;
  } else if (count > 0) {
    Wide lost = significand & ((Wide(1) << count) - 1);
    guard = lost >> (count - 1) & 1;
    sticky |= (lost & ((Wide(1) << (count - 1)) - 1)) != 0;
    significand >>= count;
  }
  switch (mode) {
  case Rounding::rn: return guard && (sticky || (significand & 1));
  case Rounding::rz: return false;
  case Rounding::rm: return negative && (guard || sticky);
  case Rounding::rp: return !negative && (guard || sticky);
  }
  return false;
}

} // namespace

uint64_t round(Exact value, Format format, Rounding mode) {
  uint64_t sign = value.negative ? sign_bit(format) : 0;
  int top = top_bit(value.significand);
  if (top < 0 && !value.sticky) return sign;
  if (top >= 0 && top < format.precision && value.sticky) { // room for the rounding bits
    int up = 100 - top;
    value.significand <<= up;
    value.exponent -= up;
    top += up;
  }
  int least = 1 - bias(format) - (format.precision - 1); // exponent of the last subnormal bit
  int last = value.exponent + top - (format.precision - 1);
  if (top < 0 || last < least) last = least;
  int count = last - value.exponent;
  Wide significand = value.significand;
  if (count < 0) {
    significand <<= -count;
    count = 0;
  }
  if (drop(significand, count, value.sticky, value.negative, mode)) ++significand;
  // A carry into the next binade or out of the subnormals keeps the pattern right by itself.
  uint64_t field = uint64_t(last - least);
  uint64_t hidden = uint64_t(1) << (format.precision - 1);
  uint64_t pattern = significand < hidden ? uint64_t(significand)
                                          : (field + 1) * hidden + (uint64_t(significand) - hidden);
  if (pattern >= infinity(format)) {
    bool away = mode == Rounding::rn || (mode == Rounding::rp && !value.negative) ||
                (mode == Rounding::rm && value.negative);
    pattern = away ? infinity(format) : infinity(format) - 1;
  }
  return sign | pattern;
}

Exact sum(Exact a, Exact b, Rounding mode) {
  if (a.significand == 0 || b.significand == 0) {
    if (a.significand == 0 && b.significand == 0) {
      a.negative = a.negative == b.negative ? a.negative : mode == Rounding::rm;
      return a;
    }
    return a.significand == 0 ? b : a;
  }
  int a_top = top_bit(a.significand) + a.exponent, b_top = top_bit(b.significand) + b.exponent;
  if (a_top < b_top) std::swap(a, b);
  int up = 124 - top_bit(a.significand);
  a.significand <<= up;
  a.exponent -= up;
  int shift = a.exponent - b.exponent; // b's bits below a's last become sticky
  bool sticky = false;
  if (shift <= 0) {
    b.significand <<= -shift;
  } else if (shift > 127) {
    sticky = true;
    b.significand = 0;
  } else {
    sticky = (b.significand & ((Wide(1) << shift) - 1)) != 0;
    b.significand >>= shift;
  }
  if (a.negative == b.negative) {
    a.significand += b.significand;
  } else if (a.significand >= b.significand) {
    a.significand -= b.significand + (sticky ? 1 : 0);
  } else { // equal tops: nothing was lost
    a.significand = b.significand - a.significand;
    a.negative = b.negative;
  }
  a.sticky = sticky;
  if (a.significand == 0 && !sticky) a.negative = mode == Rounding::rm;
  return a;
}

namespace {

bool is_nan(uint64_t pattern, Format f) { return (pattern & (sign_bit(f) - 1)) > infinity(f); }
bool is_infinite(uint64_t pattern, Format f) {
  return (pattern & (sign_bit(f) - 1)) == infinity(f);
}
uint64_t nan_of(Format f) { return sign_bit(f) - 1; }

uint64_t flushed(uint64_t pattern, Format f) {
  return (pattern & infinity(f)) == 0 ? pattern & sign_bit(f) : pattern;
}

// Whether the value is tiny: rounded with unlimited exponent it is below the least normal number.
bool is_tiny(const Exact& value, Format f, Rounding mode) {
  int top = top_bit(value.significand);
  if (top < 0) return true;
  if (top + value.exponent >= 1 - bias(f)) return false;
  if (top + value.exponent < -bias(f)) return true;
  Exact scaled = value;
  scaled.exponent += 1; // one binade up it is normal; rounds up to 2^(2 − bias) when not tiny
  uint64_t least = uint64_t(2) << (f.precision - 1);
  return (round(scaled, f, mode) & (sign_bit(f) - 1)) < least;
}

} // namespace

uint64_t convert(uint64_t pattern, Format from, Format to, Rounding mode) {
  uint64_t sign = pattern & sign_bit(from) ? sign_bit(to) : 0;
  if (is_nan(pattern, from)) { // sign, quiet bit and the top of the payload
    uint64_t quiet = uint64_t(1) << (to.precision - 2);
    int down = from.precision - to.precision;
    uint64_t payload = down >= 0 ? pattern >> down : pattern << -down;
    return sign | infinity(to) | quiet | (payload & (quiet - 1));
  }
  if (is_infinite(pattern, from)) return sign | infinity(to);
  return round(unpack(pattern, from), to, mode);
}

uint64_t from_integer(uint64_t magnitude, bool negative, Format to, Rounding mode) {
  return round(Exact{negative && magnitude != 0, 0, magnitude, false}, to, mode);
}

uint64_t fma(uint64_t a, uint64_t b, uint64_t c, Format f, Rounding mode, bool ftz) {
  if (ftz) {
    a = flushed(a, f);
    b = flushed(b, f);
    c = flushed(c, f);
  }
  if (is_nan(a, f) || is_nan(b, f) || is_nan(c, f)) return nan_of(f);
  uint64_t magnitude = sign_bit(f) - 1;
  uint64_t sign = (a ^ b) & sign_bit(f);
  if (is_infinite(a, f) || is_infinite(b, f)) {
    if ((a & magnitude) == 0 || (b & magnitude) == 0) return nan_of(f);
    if (is_infinite(c, f) && (c & sign_bit(f)) != sign) return nan_of(f);
    return sign | infinity(f);
  }
  if (is_infinite(c, f)) return c;
  Exact x = unpack(a, f), y = unpack(b, f);
  Exact product{x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand,
                false};
  Exact total = sum(product, unpack(c, f), mode);
  if (ftz && is_tiny(total, f, mode)) return total.negative ? sign_bit(f) : 0;
  return round(total, f, mode);
}

} // namespace assay::fp
