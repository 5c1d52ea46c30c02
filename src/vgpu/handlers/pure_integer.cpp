// Moves and integer arithmetic: PTX ISA 9.0, sections 9.7.1 (integer), 9.7.2 (extended precision)
// and 9.7.9 (mov). 16-bit values lie zero-extended in 32-bit lanes, so bodies of 16-bit operations
// take uint32_t, extend signs themselves and leave the upper half zero.
#include "vgpu/handlers/pure.hpp"

namespace assay::vgpu::ASSAY_LEVEL {
namespace {

using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;
using u128 = unsigned __int128;
using s128 = __int128;

ASSAY_INLINE s32 sx(u32 a) { return s32(int16_t(a)); } // a 16-bit lane as signed
ASSAY_INLINE u32 h(u32 a) { return a & 0xffffu; }
ASSAY_INLINE s32 clamp_s32(s64 x) {
  s64 low = x < INT32_MIN ? INT32_MIN : x;
  return s32(low > INT32_MAX ? INT32_MAX : low);
}
ASSAY_INLINE u64 mul_hi_u(u64 a, u64 b) { return u64((u128(a) * b) >> 64); }
ASSAY_INLINE u64 mul_hi_s(u64 a, u64 b) { return u64((s128(s64(a)) * s64(b)) >> 64); }
ASSAY_INLINE s32 s24(s32 a) { return s32(u32(a) << 8) >> 8; }
ASSAY_INLINE u32 u24(u32 a) { return a & 0xffffffu; }

// Halves of a packed pair.
template <class F> ASSAY_INLINE u32 each_u16(u32 a, u32 b, F f) {
  return h(f(h(a), h(b))) | f(a >> 16, b >> 16) << 16;
}
template <class F> ASSAY_INLINE u32 each_s16(u32 a, u32 b, F f) {
  return h(u32(f(sx(a), sx(b)))) | u32(f(s32(a) >> 16, s32(b) >> 16)) << 16;
}
template <class T> ASSAY_INLINE T least(T a, T b) { return b < a ? b : a; }
template <class T> ASSAY_INLINE T most(T a, T b) { return a < b ? b : a; }
template <class T> ASSAY_INLINE T distance(T a, T b) { return a < b ? b - a : a - b; }

// Division: PTX leaves division by zero to the machine; on sm_90 quotient and remainder have all
// bits set (measured).
template <class T> ASSAY_INLINE T quotient(T a, T b) {
  if (b == 0) return T(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return T(0 - std::make_unsigned_t<T>(a));
  return T(a / b);
}
template <class T> ASSAY_INLINE T remainder(T a, T b) {
  if (b == 0) return T(-1);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return T(a % b);
}

ASSAY_UNARY(mov_b32, u32, u32, a)
ASSAY_UNARY(mov_b64, u64, u64, a)
ASSAY_UNARY(mov_b128, u128, u128, a)
ASSAY_BINARY(pack_b32, u32, u32, u32, a | b << 16)
ASSAY_BINARY(pack_b64, u64, u32, u32, a | u64(b) << 32)
ASSAY_BINARY(pack_b128, u128, u64, u64, a | u128(b) << 64)
ASSAY_UNARY(low_b16, u32, u32, h(a))
ASSAY_UNARY(high_b16, u32, u32, a >> 16)
ASSAY_UNARY(low_b32, u32, u64, a)
ASSAY_UNARY(high_b32, u32, u64, a >> 32)
ASSAY_UNARY(low_b64, u64, u128, a)
ASSAY_UNARY(high_b64, u64, u128, a >> 64)
ASSAY_UNARY(sext_b8, s32, u32, int8_t(a))
ASSAY_UNARY(sext_b16, s32, u32, int16_t(a))
ASSAY_UNARY(zext_b8, u32, u32, a & 0xff)
ASSAY_UNARY(zext_b16, u32, u32, h(a))
ASSAY_UNARY(sext_b32, s64, s32, a)
ASSAY_UNARY(zext_b32, u64, u32, a)

ASSAY_BINARY(add_b16, u32, u32, u32, h(a + b))
ASSAY_BINARY(add_b32, u32, u32, u32, a + b)
ASSAY_BINARY(add_b64, u64, u64, u64, a + b)
ASSAY_BINARY(add_sat_s32, s32, s32, s32, clamp_s32(s64(a) + b))
ASSAY_BINARY(add_b16x2, u32, u32, u32, each_u16(a, b, [](u32 x, u32 y) { return x + y; }))
ASSAY_BINARY(sub_b16, u32, u32, u32, h(a - b))
ASSAY_BINARY(sub_b32, u32, u32, u32, a - b)
ASSAY_BINARY(sub_b64, u64, u64, u64, a - b)
ASSAY_BINARY(sub_sat_s32, s32, s32, s32, clamp_s32(s64(a) - b))
ASSAY_BINARY(sub_b16x2, u32, u32, u32, each_u16(a, b, [](u32 x, u32 y) { return x - y; }))

ASSAY_BINARY(mul_lo_b16, u32, u32, u32, h(a* b))
ASSAY_BINARY(mul_lo_b32, u32, u32, u32, a* b)
ASSAY_BINARY(mul_lo_b64, u64, u64, u64, a* b)
ASSAY_BINARY(mul_hi_s16, u32, u32, u32, h(u32(sx(a) * sx(b)) >> 16))
ASSAY_BINARY(mul_hi_u16, u32, u32, u32, (a * b) >> 16)
ASSAY_BINARY(mul_hi_s32, s32, s32, s32, (s64(a) * b) >> 32)
ASSAY_BINARY(mul_hi_u32, u32, u32, u32, (u64(a) * b) >> 32)
ASSAY_BINARY(mul_hi_s64, u64, u64, u64, mul_hi_s(a, b))
ASSAY_BINARY(mul_hi_u64, u64, u64, u64, mul_hi_u(a, b))
ASSAY_BINARY(mul_wide_s16, s32, u32, u32, sx(a) * sx(b))
ASSAY_BINARY(mul_wide_u16, u32, u32, u32, a* b)
ASSAY_BINARY(mul_wide_s32, s64, s32, s32, s64(a) * b)
ASSAY_BINARY(mul_wide_u32, u64, u32, u32, u64(a) * b)

ASSAY_TERNARY(mad_lo_b16, u32, u32, u32, u32, h(a* b + c))
ASSAY_TERNARY(mad_lo_b32, u32, u32, u32, u32, a* b + c)
ASSAY_TERNARY(mad_lo_b64, u64, u64, u64, u64, a* b + c)
ASSAY_TERNARY(mad_hi_s16, u32, u32, u32, u32, h((u32(sx(a) * sx(b)) >> 16) + c))
ASSAY_TERNARY(mad_hi_u16, u32, u32, u32, u32, h(((a * b) >> 16) + c))
ASSAY_TERNARY(mad_hi_s32, u32, s32, s32, u32, u32((s64(a) * b) >> 32) + c)
ASSAY_TERNARY(mad_hi_u32, u32, u32, u32, u32, u32((u64(a) * b) >> 32) + c)
ASSAY_TERNARY(mad_hi_s64, u64, u64, u64, u64, mul_hi_s(a, b) + c)
ASSAY_TERNARY(mad_hi_u64, u64, u64, u64, u64, mul_hi_u(a, b) + c)
ASSAY_TERNARY(mad_hi_sat_s32, s32, s32, s32, s32, clamp_s32(((s64(a) * b) >> 32) + c))
ASSAY_TERNARY(mad_wide_s16, u32, u32, u32, u32, u32(sx(a) * sx(b)) + c)
ASSAY_TERNARY(mad_wide_u16, u32, u32, u32, u32, a* b + c)
ASSAY_TERNARY(mad_wide_s32, u64, s32, s32, u64, u64(s64(a) * b) + c)
ASSAY_TERNARY(mad_wide_u32, u64, u32, u32, u64, u64(a) * b + c)

// mul24 takes 24-bit operands: .lo keeps the low 32 bits of the 48-bit product, .hi the high 32.
ASSAY_BINARY(mul24_lo_s32, u32, s32, s32, u32(s24(a)) * u32(s24(b)))
ASSAY_BINARY(mul24_lo_u32, u32, u32, u32, u24(a) * u24(b))
ASSAY_BINARY(mul24_hi_s32, u32, s32, s32, (s64(s24(a)) * s24(b)) >> 16)
ASSAY_BINARY(mul24_hi_u32, u32, u32, u32, (u64(u24(a)) * u24(b)) >> 16)
ASSAY_TERNARY(mad24_lo_s32, u32, s32, s32, u32, u32(s24(a)) * u32(s24(b)) + c)
ASSAY_TERNARY(mad24_lo_u32, u32, u32, u32, u32, u24(a) * u24(b) + c)
ASSAY_TERNARY(mad24_hi_s32, u32, s32, s32, u32, u32((s64(s24(a)) * s24(b)) >> 16) + c)
ASSAY_TERNARY(mad24_hi_u32, u32, u32, u32, u32, u32((u64(u24(a)) * u24(b)) >> 16) + c)
ASSAY_TERNARY(mad24_hi_sat_s32, s32, s32, s32, s32,
              clamp_s32(s64(s32((s64(s24(a)) * s24(b)) >> 16)) + c))

ASSAY_TERNARY(sad_s16, u32, u32, u32, u32, h(c + u32(distance(sx(a), sx(b)))))
ASSAY_TERNARY(sad_u16, u32, u32, u32, u32, h(c + distance(a, b)))
ASSAY_TERNARY(sad_s32, u32, s32, s32, u32, c + (a < b ? u32(b) - u32(a) : u32(a) - u32(b)))
ASSAY_TERNARY(sad_u32, u32, u32, u32, u32, c + distance(a, b))
ASSAY_TERNARY(sad_s64, u64, s64, s64, u64, c + (a < b ? u64(b) - u64(a) : u64(a) - u64(b)))
ASSAY_TERNARY(sad_u64, u64, u64, u64, u64, c + distance(a, b))

ASSAY_BINARY(div_s16, u32, u32, u32, h(u32(quotient(sx(a), sx(b)))))
ASSAY_BINARY(div_u16, u32, u32, u32, h(quotient(a, b)))
ASSAY_BINARY(div_s32, s32, s32, s32, quotient(a, b))
ASSAY_BINARY(div_u32, u32, u32, u32, quotient(a, b))
ASSAY_BINARY(div_s64, s64, s64, s64, quotient(a, b))
ASSAY_BINARY(div_u64, u64, u64, u64, quotient(a, b))
ASSAY_BINARY(rem_s16, u32, u32, u32, h(u32(remainder(sx(a), sx(b)))))
ASSAY_BINARY(rem_u16, u32, u32, u32, h(remainder(a, b)))
ASSAY_BINARY(rem_s32, s32, s32, s32, remainder(a, b))
ASSAY_BINARY(rem_u32, u32, u32, u32, remainder(a, b))
ASSAY_BINARY(rem_s64, s64, s64, s64, remainder(a, b))
ASSAY_BINARY(rem_u64, u64, u64, u64, remainder(a, b))

ASSAY_UNARY(abs_s16, u32, u32, h(u32(sx(a) < 0 ? -sx(a) : sx(a))))
ASSAY_UNARY(abs_s32, u32, u32, s32(a) < 0 ? 0 - a : a)
ASSAY_UNARY(abs_s64, u64, u64, s64(a) < 0 ? 0 - a : a)
ASSAY_UNARY(neg_s16, u32, u32, h(0 - a))
ASSAY_UNARY(neg_s32, u32, u32, 0 - a)
ASSAY_UNARY(neg_s64, u64, u64, 0 - a)
ASSAY_BINARY(min_s16, u32, u32, u32, h(u32(least(sx(a), sx(b)))))
ASSAY_BINARY(min_u16, u32, u32, u32, least(a, b))
ASSAY_BINARY(min_s32, s32, s32, s32, least(a, b))
ASSAY_BINARY(min_u32, u32, u32, u32, least(a, b))
ASSAY_BINARY(min_s64, s64, s64, s64, least(a, b))
ASSAY_BINARY(min_u64, u64, u64, u64, least(a, b))
ASSAY_BINARY(min_s16x2, u32, u32, u32, each_s16(a, b, least<s32>))
ASSAY_BINARY(min_u16x2, u32, u32, u32, each_u16(a, b, least<u32>))
ASSAY_BINARY(max_s16, u32, u32, u32, h(u32(most(sx(a), sx(b)))))
ASSAY_BINARY(max_u16, u32, u32, u32, most(a, b))
ASSAY_BINARY(max_s32, s32, s32, s32, most(a, b))
ASSAY_BINARY(max_u32, u32, u32, u32, most(a, b))
ASSAY_BINARY(max_s64, s64, s64, s64, most(a, b))
ASSAY_BINARY(max_u64, u64, u64, u64, most(a, b))
ASSAY_BINARY(max_s16x2, u32, u32, u32, each_s16(a, b, most<s32>))
ASSAY_BINARY(max_u16x2, u32, u32, u32, each_u16(a, b, most<u32>))
ASSAY_UNARY(relu_s32, s32, s32, most(a, 0))
ASSAY_UNARY(relu_s16x2, u32, u32, each_s16(a, 0, most<s32>))

ASSAY_TERNARY(carry_add_b32, u32, u32, u32, u32, (u64(a) + b + c) >> 32)
ASSAY_TERNARY(carry_add_b64, u32, u64, u64, u32, (a + b < a ? 1u : 0u) | (a + b + c < a + b))
ASSAY_TERNARY(carry_sub_b32, u32, u32, u32, u32, (u64(a) - b - c) >> 63)
ASSAY_TERNARY(carry_sub_b64, u32, u64, u64, u32, (a < b ? 1u : 0u) | (a - b < c))
ASSAY_TERNARY(add_carry_b32, u32, u32, u32, u32, a + b + c)
ASSAY_TERNARY(add_carry_b64, u64, u64, u64, u32, a + b + c)
ASSAY_TERNARY(sub_carry_b32, u32, u32, u32, u32, a - b - c)
ASSAY_TERNARY(sub_carry_b64, u64, u64, u64, u32, a - b - c)

// dp4a: c + sum of the products of four bytes; dp2a: of two halves of a with two bytes of b.
template <class A, class B> ASSAY_INLINE u32 dot4(u32 a, u32 b) {
  u32 sum = 0;
  for (int i = 0; i < 32; i += 8) sum += u32(s32(A(a >> i)) * s32(B(b >> i)));
  return sum;
}
template <class A, class B> ASSAY_INLINE u32 dot2(u32 a, u32 b) {
  return u32(s32(A(a)) * s32(B(b))) + u32(s32(A(a >> 16)) * s32(B(b >> 8)));
}
#define DOT(signs, A8, A16, B8)                                                                    \
  ASSAY_TERNARY(dp4a_##signs, u32, u32, u32, u32, c + (dot4<A8, B8>(a, b)))                        \
  ASSAY_TERNARY(dp2a_lo_##signs, u32, u32, u32, u32, c + (dot2<A16, B8>(a, b)))                    \
  ASSAY_TERNARY(dp2a_hi_##signs, u32, u32, u32, u32, c + (dot2<A16, B8>(a, b >> 16)))
DOT(s32_s32, int8_t, int16_t, int8_t)
DOT(s32_u32, int8_t, int16_t, uint8_t)
DOT(u32_s32, uint8_t, uint16_t, int8_t)
DOT(u32_u32, uint8_t, uint16_t, uint8_t)
#undef DOT

} // namespace

void add_integer(PureHandlers* table) {
#define ASSAY_IN_integer(name) table[pure_index(ir::OpCode::name)] = ASSAY_PURE_HANDLERS(name);
#include "vgpu/handlers/rows.inc"
}

} // namespace assay::vgpu::ASSAY_LEVEL
