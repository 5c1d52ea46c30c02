// Encoding, decoding and text of elements; see dtype.hpp.
#include "inputs/dtype.hpp"

#include "base/check.hpp"
#include "base/text.hpp"

#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <limits>

namespace assay::inputs {
namespace {

constexpr Format kFormats[kDTypes] = {
    {"u8", 1, 'u', 0, 0},    {"u16", 2, 'u', 0, 0},   {"u32", 4, 'u', 0, 0},
    {"u64", 8, 'u', 0, 0},   {"s8", 1, 's', 0, 0},    {"s16", 2, 's', 0, 0},
    {"s32", 4, 's', 0, 0},   {"s64", 8, 's', 0, 0},   {"b8", 1, 'b', 0, 0},
    {"b16", 2, 'b', 0, 0},   {"b32", 4, 'b', 0, 0},   {"b64", 8, 'b', 0, 0},
    {"e4m3", 1, 'f', 4, 3},  {"e5m2", 1, 'f', 5, 2},  {"f16", 2, 'f', 5, 10},
    {"bf16", 2, 'f', 8, 7},  {"tf32", 4, 'f', 8, 10}, {"f32", 4, 'f', 8, 23},
    {"f64", 8, 'f', 11, 52},
};

// tf32 is stored in the upper bits of 32: its fraction is followed by 13 zero bits.
unsigned padding(DType type) { return type == DType::tf32 ? 13 : 0; }
int bias(const Format& f) { return (1 << (f.exponent - 1)) - 1; }
uint64_t width_mask(uint32_t bytes) {
  return bytes == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * bytes) - 1;
}

// Rounds |value| to the format: (exponent field, fraction) as one integer, so that a carry out of
// the fraction moves into the exponent by itself.
uint64_t round_magnitude(const Format& f, double value) {
  int exponent;
  double significand = std::frexp(value, &exponent); // [0.5, 1)
  int field = exponent - 1 + bias(f);
  int shift = f.fraction + 1; // of the significand, to an integer of fraction + 1 bits
  if (field < 1) {
    shift -= 1 - field;
    field = 1;
  }
  double scaled = std::ldexp(significand, shift); // exact: at most 53 bits
  double whole = std::nearbyint(scaled);          // ties to even, the default rounding mode
  return uint64_t(whole) + (uint64_t(field - 1) << f.fraction);
}

Result<uint64_t> parse_integer(DType type, std::string_view text, Span span) {
  const Format& f = format(type);
  std::string digits(text);
  errno = 0;
  char* end = nullptr;
  bool negative = !digits.empty() && digits[0] == '-';
  uint64_t value = std::strtoull(digits.c_str() + negative, &end, 10);
  bool starts = digits.size() > size_t(negative) && std::isdigit(uint8_t(digits[negative]));
  if (!starts || *end)
    return usage_error(fmt::format("'{}' is not a {} value", text, f.name), span);
  uint64_t mask = width_mask(f.bytes);
  uint64_t least = mask / 2 + 1; // magnitude of the smallest signed value
  if (errno == ERANGE || (negative ? value > least : value > mask))
    return usage_error(fmt::format("{} does not fit in {}", text, f.name), span);
  return (negative ? 0 - value : value) & mask;
}

} // namespace

const Format& format(DType type) { return kFormats[int(type)]; }

Result<DType> dtype_from(std::string_view name, Span span) {
  std::vector<std::string> names;
  for (int i = 0; i < kDTypes; ++i) {
    if (kFormats[i].name == name) return DType(i);
    names.emplace_back(kFormats[i].name);
  }
  return usage_error(fmt::format("unknown type '{}' (types: {})", name, join(names, " ")), span);
}

uint64_t sign_bit(DType type) { return uint64_t(1) << (8 * bytes(type) - 1); }

uint64_t nan(DType type) {
  const Format& f = format(type);
  if (type == DType::e4m3) return 0x7f;
  uint64_t all = (uint64_t(1) << (f.exponent + f.fraction)) - 1;
  uint64_t quiet = all & ~((uint64_t(1) << (f.fraction - 1)) - 1);
  return quiet << padding(type);
}

uint64_t infinity(DType type) {
  const Format& f = format(type);
  if (type == DType::e4m3) return nan(type);
  return (((uint64_t(1) << f.exponent) - 1) << f.fraction) << padding(type);
}

uint64_t largest_finite(DType type) {
  if (!is_float(type))
    return format(type).kind == 's' ? sign_bit(type) - 1 : width_mask(bytes(type));
  return infinity(type) - (uint64_t(1) << padding(type));
}

uint64_t encode(DType type, double value) {
  const Format& f = format(type);
  if (f.kind != 'f') {
    if (std::isnan(value)) return 0;
    bool is_signed = f.kind == 's';
    double low = is_signed ? -std::ldexp(1.0, 8 * f.bytes - 1) : 0;
    double high = std::ldexp(1.0, 8 * f.bytes - is_signed);
    if (value <= low) return is_signed ? sign_bit(type) : 0;
    if (value >= high) return largest_finite(type);
    return (is_signed ? uint64_t(int64_t(value)) : uint64_t(value)) & width_mask(f.bytes);
  }
  if (std::isnan(value)) return nan(type);
  uint64_t sign = std::signbit(value) ? sign_bit(type) : 0;
  double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(magnitude)) return sign | infinity(type);
  uint64_t bits = round_magnitude(f, magnitude) << padding(type);
  return sign | (bits > largest_finite(type) ? infinity(type) : bits);
}

double decode(DType type, uint64_t bits) {
  const Format& f = format(type);
  if (f.kind == 's') return double(int64_t(bits << (64 - 8 * f.bytes)) >> (64 - 8 * f.bytes));
  if (f.kind != 'f') return double(bits & width_mask(f.bytes));
  double sign = bits & sign_bit(type) ? -1.0 : 1.0;
  uint64_t magnitude = (bits & (sign_bit(type) - 1)) >> padding(type);
  if (magnitude > (infinity(type) >> padding(type)) || (type == DType::e4m3 && magnitude == 0x7f))
    return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == (infinity(type) >> padding(type)))
    return sign * std::numeric_limits<double>::infinity();
  int field = int(magnitude >> f.fraction);
  uint64_t fraction = magnitude & ((uint64_t(1) << f.fraction) - 1);
  if (field == 0) return sign * std::ldexp(double(fraction), 1 - bias(f) - f.fraction);
  return sign *
         std::ldexp(double(fraction | (uint64_t(1) << f.fraction)), field - bias(f) - f.fraction);
}

Result<uint64_t> parse_value(DType type, std::string_view text, Span span) {
  const Format& f = format(type);
  std::string word(text);
  if (word.starts_with("0x") || word.starts_with("0X")) {
    errno = 0;
    char* end = nullptr;
    uint64_t bits = std::strtoull(word.c_str() + 2, &end, 16);
    if (word.size() == 2 || *end || !std::isxdigit(uint8_t(word[2])))
      return usage_error(fmt::format("'{}' is not a bit pattern", word), span);
    if (errno == ERANGE || (bits & ~width_mask(f.bytes)))
      return usage_error(fmt::format("{} does not fit in {}", word, f.name), span);
    return bits;
  }
  if (f.kind != 'f') return parse_integer(type, text, span);
  char* end = nullptr;
  if (type == DType::f32) { // straight from decimal: no second rounding
    float value = std::strtof(word.c_str(), &end);
    if (!word.empty() && !*end && !std::isnan(value)) return std::bit_cast<uint32_t>(value);
  }
  double value = std::strtod(word.c_str(), &end);
  if (word.empty() || *end || std::isspace(uint8_t(word[0])))
    return usage_error(fmt::format("'{}' is not a {} value", word, f.name), span);
  if (std::isnan(value)) return (word[0] == '-' ? sign_bit(type) : 0) | nan(type);
  return encode(type, value);
}

std::string print_value(DType type, uint64_t bits) {
  const Format& f = format(type);
  bits &= width_mask(f.bytes);
  if (f.kind == 'b') return fmt::format("0x{:0{}x}", bits, 2 * f.bytes);
  if (f.kind == 'u') return fmt::format("{}", bits);
  if (f.kind == 's')
    return fmt::format("{}", int64_t(bits << (64 - 8 * f.bytes)) >> (64 - 8 * f.bytes));
  double value = decode(type, bits);
  if (std::isnan(value) && bits == nan(type)) return "nan";
  if (std::isnan(value)) return fmt::format("0x{:0{}x}", bits, 2 * f.bytes);
  std::string text;
  if (type == DType::f64) {
    text = fmt::format("{}", value);
  } else { // the fewest digits that come back as the same bits
    for (int digits = 1; digits <= 9; ++digits) {
      text = fmt::format("{:.{}g}", value, digits);
      Result<uint64_t> back = parse_value(type, text);
      if (back && *back == bits) break;
    }
  }
  return text;
}

} // namespace assay::inputs
