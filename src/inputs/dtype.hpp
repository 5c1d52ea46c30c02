// Element types of buffers, their encoding from real numbers and their text form. This is not the
// arithmetic of kernels (fp/): it only prepares and prints data. Formats: IEEE 754-2019 and, for
// the 8-bit ones, the OCP 8-bit floating point specification (e4m3 has no infinity).
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::inputs {

enum class DType : uint8_t {
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  b8,
  b16,
  b32,
  b64,
  e4m3,
  e5m2,
  f16,
  bf16,
  tf32,
  f32,
  f64
};
inline constexpr int kDTypes = int(DType::f64) + 1;

struct Format {
  std::string_view name;
  uint8_t bytes;
  char kind;        // 'u', 's', 'b' or 'f'
  uint8_t exponent; // bits, of floats
  uint8_t fraction; // bits, of floats (tf32: 10 of the 23 that are stored)
};
const Format& format(DType type);
inline uint32_t bytes(DType type) { return format(type).bytes; }
inline bool is_float(DType type) { return format(type).kind == 'f'; }

// "f32"; an unknown name is an error that lists the types.
Result<DType> dtype_from(std::string_view name, Span span = {});

// The nearest value of the type, ties to even; beyond the largest becomes infinity (NaN in e4m3).
uint64_t encode(DType type, double value);
double decode(DType type, uint64_t bits); // integers beyond 2^53 are rounded
uint64_t largest_finite(DType type);
uint64_t infinity(DType type); // e4m3: its NaN
uint64_t nan(DType type);
uint64_t sign_bit(DType type);

// "7", "-1" (wraps in unsigned types), "1.5", "nan", "-inf"; "0x3f800000" is a bit pattern in every
// type, floats included.
Result<uint64_t> parse_value(DType type, std::string_view text, Span span = {});
// The shortest text that parse_value reads back; NaNs other than the usual one are bit patterns.
std::string print_value(DType type, uint64_t bits);

} // namespace assay::inputs
