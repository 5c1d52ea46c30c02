// Bit fields, logic, shifts and byte permutation: PTX ISA 9.0, sections 9.7.1 and 9.7.8.
#include "vgpu/handlers/pure.hpp"

namespace assay::vgpu::ASSAY_LEVEL {
namespace {

using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;

// Counting in arithmetic that vectorises; the instructions for it do not exist at every level.
ASSAY_INLINE u32 ones(u32 x) {
  x -= (x >> 1) & 0x55555555u;
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  x = (x + (x >> 4)) & 0x0f0f0f0fu;
  return (x * 0x01010101u) >> 24;
}
ASSAY_INLINE u32 ones(u64 x) { return ones(u32(x)) + ones(u32(x >> 32)); }
template <class T> ASSAY_INLINE u32 leading_zeros(T x) { // the width for 0
  for (u32 shift = 1; shift < sizeof(T) * 8; shift *= 2) x |= x >> shift;
  return u32(sizeof(T) * 8) - ones(x);
}
template <class T> ASSAY_INLINE T reverse(T x) {
  constexpr u64 masks[] = {0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f,
                           0x00ff00ff00ff00ff, 0x0000ffff0000ffff, 0x00000000ffffffff};
  u32 shift = 1;
  for (int i = 0; shift < sizeof(T) * 8; ++i, shift *= 2)
    x = T(((x >> shift) & T(masks[i])) | ((x & T(masks[i])) << shift));
  return x;
}

// Position of the highest bit that differs from the sign (unsigned: from 0), −1 for none.
ASSAY_INLINE u32 find(u32 a) { return 31 - leading_zeros(a); }
ASSAY_INLINE u32 find(u64 a) { return 63 - leading_zeros(a); }
ASSAY_INLINE u32 find(s32 a) { return find(u32(a < 0 ? ~a : a)); }
ASSAY_INLINE u32 find(s64 a) { return find(u64(a < 0 ? ~a : a)); }
ASSAY_INLINE u32 amount(u32 position, u32 top) {
  return position == ~0u ? position : top - position;
}

u32 find_nth_set(u32 mask, u32 base, s32 offset) {
  if (offset == 0) return base < 32 && (mask >> base & 1) ? base : ~0u;
  s32 step = offset > 0 ? 1 : -1;
  s64 count = (offset > 0 ? s64(offset) : -s64(offset)) - 1;
  for (s64 at = base; at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && count-- == 0) return u32(at);
  return ~0u;
}

// Shifts whose amount is clamped to the width.
template <class T> ASSAY_INLINE T left(T a, u32 n) {
  constexpr u32 width = sizeof(T) * 8;
  return n < width ? T(a << (n & (width - 1))) : T(0);
}
template <class T> ASSAY_INLINE T right(T a, u32 n) { // of a signed T: the sign is shifted in
  constexpr u32 width = sizeof(T) * 8;
  if constexpr (std::is_signed_v<T>) return T(a >> (n < width ? n : width - 1));
  return n < width ? T(a >> (n & (width - 1))) : T(0);
}

template <class T> ASSAY_INLINE T extract(T a, u32 position, u32 length) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 width = sizeof(T) * 8;
  position &= 255;
  length &= 255;
  U field = right(U(a), position);
  U mask = left(U(1), length) - 1; // all bits from `width` on
  if constexpr (std::is_unsigned_v<T>) return field & mask;
  u32 top = position + length - 1 < width ? position + length - 1 : width - 1;
  U sign = length == 0 ? U(0) : U(0) - (right(U(a), top) & 1);
  // Bits beyond the top of `a` are sign bits too.
  U inside = position < width ? U(~U(0)) >> (position & (width - 1)) : U(0);
  return T((field & mask & inside) | (sign & ~(mask & inside)));
}
template <class T> ASSAY_INLINE T insert(T a, T b, u32 field) {
  u32 position = field & 255, length = field >> 8 & 255;
  T mask = left(T(left(T(1), length) - 1), position);
  return (b & ~mask) | (left(a, position) & mask);
}

template <bool Clamp> ASSAY_INLINE u32 bit_mask(u32 a, u32 b) {
  u32 position = a & 31, width = b & 31, end = position + width;
  bool over = end >= 32 || (Clamp && (a >= 32 || b >= 32));
  u32 low = Clamp && a >= 32 ? 0 : ~0u << position;
  u32 high = over ? 0 : width == 0 ? ~0u : ~0u << (end & 31);
  return low & ~high;
}
template <bool Clamp, bool Signed> ASSAY_INLINE u32 extend(u32 a, u32 b) {
  u32 width = b & 31;
  bool large = Clamp && b >= 32;
  u32 mask = large ? 0 : ~0u << width, top = (width - 1) & 31;
  bool sign = Signed && width != 0 && !large && (a >> top & 1);
  return (a & ~mask) | (sign ? mask | 1u << top : 0);
}

ASSAY_INLINE u64 join(u32 a, u32 b) { return a | u64(b) << 32; }
ASSAY_INLINE u32 at_most_32(u32 c) { return c < 32 ? c : 32; }

ASSAY_INLINE u32 permute(u32 a, u32 b, u32 c) {
  u64 bytes = join(a, b);
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) {
    u32 select = c >> (4 * i);
    u32 byte = u32(bytes >> ((select & 7) * 8)) & 255;
    u32 sign = byte & 128 ? 255 : 0;
    result |= (select & 8 ? sign : byte) << (8 * i);
  }
  return result;
}
template <class F> ASSAY_INLINE u32 permute_by(u32 a, u32 b, F index) {
  u64 bytes = join(a, b);
  u32 result = 0;
  for (u32 i = 0; i < 4; ++i) result |= (u32(bytes >> (index(i) * 8)) & 255) << (8 * i);
  return result;
}

// lop3: bit (a << 2 | b << 1 | c) of the table.
template <bool Full> ASSAY_INLINE void lop3_b32(const Op& op, const WarpMasks& w, char* regs) {
  u32 t[8];
  for (int i = 0; i < 8; ++i) t[i] = op.imm >> i & 1 ? ~0u : 0u;
  map<Full>(
      lanes<u32>(regs, op.d), w.exec,
      [=](u32 a, u32 b, u32 c) -> u32 {
        u32 low = (~b & ((~c & t[0]) | (c & t[1]))) | (b & ((~c & t[2]) | (c & t[3])));
        u32 high = (~b & ((~c & t[4]) | (c & t[5]))) | (b & ((~c & t[6]) | (c & t[7])));
        return (~a & low) | (a & high);
      },
      lanes<u32>(regs, op.a), lanes<u32>(regs, op.b), lanes<u32>(regs, op.c));
}
ASSAY_UNARY(popc_b32, u32, u32, ones(a))
ASSAY_UNARY(popc_b64, u32, u64, ones(a))
ASSAY_UNARY(clz_b32, u32, u32, leading_zeros(a))
ASSAY_UNARY(clz_b64, u32, u64, leading_zeros(a))
ASSAY_UNARY(bfind_u32, u32, u32, find(a))
ASSAY_UNARY(bfind_s32, u32, s32, find(a))
ASSAY_UNARY(bfind_u64, u32, u64, find(a))
ASSAY_UNARY(bfind_s64, u32, s64, find(a))
ASSAY_UNARY(bfind_shiftamt_u32, u32, u32, amount(find(a), 31))
ASSAY_UNARY(bfind_shiftamt_s32, u32, s32, amount(find(a), 31))
ASSAY_UNARY(bfind_shiftamt_u64, u32, u64, amount(find(a), 63))
ASSAY_UNARY(bfind_shiftamt_s64, u32, s64, amount(find(a), 63))
ASSAY_TERNARY(fns_b32, u32, u32, u32, s32, find_nth_set(a, b, c))
ASSAY_UNARY(brev_b32, u32, u32, reverse(a))
ASSAY_UNARY(brev_b64, u64, u64, reverse(a))
ASSAY_TERNARY(bfe_u32, u32, u32, u32, u32, extract(a, b, c))
ASSAY_TERNARY(bfe_s32, s32, s32, u32, u32, extract(a, b, c))
ASSAY_TERNARY(bfe_u64, u64, u64, u32, u32, extract(a, b, c))
ASSAY_TERNARY(bfe_s64, s64, s64, u32, u32, extract(a, b, c))
ASSAY_TERNARY(bfi_b32, u32, u32, u32, u32, insert(a, b, c))
ASSAY_TERNARY(bfi_b64, u64, u64, u64, u32, insert(a, b, c))
ASSAY_BINARY(bfi_field, u32, u32, u32, (a & 255) | (b & 255) << 8)
ASSAY_BINARY(bmsk_clamp_b32, u32, u32, u32, bit_mask<true>(a, b))
ASSAY_BINARY(bmsk_wrap_b32, u32, u32, u32, bit_mask<false>(a, b))
ASSAY_BINARY(szext_clamp_s32, u32, u32, u32, (extend<true, true>(a, b)))
ASSAY_BINARY(szext_clamp_u32, u32, u32, u32, (extend<true, false>(a, b)))
ASSAY_BINARY(szext_wrap_s32, u32, u32, u32, (extend<false, true>(a, b)))
ASSAY_BINARY(szext_wrap_u32, u32, u32, u32, (extend<false, false>(a, b)))

ASSAY_BINARY(and_b32, u32, u32, u32, a& b)
ASSAY_BINARY(and_b64, u64, u64, u64, a& b)
ASSAY_BINARY(or_b32, u32, u32, u32, a | b)
ASSAY_BINARY(or_b64, u64, u64, u64, a | b)
ASSAY_BINARY(xor_b32, u32, u32, u32, a ^ b)
ASSAY_BINARY(xor_b64, u64, u64, u64, a ^ b)
ASSAY_UNARY(not_b16, u32, u32, ~a & 0xffff)
ASSAY_UNARY(not_b32, u32, u32, ~a)
ASSAY_UNARY(not_b64, u64, u64, ~a)
ASSAY_UNARY(cnot_b32, u32, u32, a == 0 ? 1 : 0)
ASSAY_UNARY(cnot_b64, u64, u64, a == 0 ? 1 : 0)
ASSAY_BINARY(shl_b16, u32, u32, u32, left(a, b) & 0xffff)
ASSAY_BINARY(shl_b32, u32, u32, u32, left(a, b))
ASSAY_BINARY(shl_b64, u64, u64, u32, left(a, b))
ASSAY_BINARY(shr_s16, u32, u32, u32, right(s32(int16_t(a)), b) & 0xffff)
ASSAY_BINARY(shr_s32, s32, s32, u32, right(a, b))
ASSAY_BINARY(shr_s64, s64, s64, u32, right(a, b))
ASSAY_BINARY(shr_u32, u32, u32, u32, right(a, b))
ASSAY_BINARY(shr_u64, u64, u64, u32, right(a, b))
ASSAY_TERNARY(shf_l_clamp_b32, u32, u32, u32, u32, (join(a, b) << at_most_32(c)) >> 32)
ASSAY_TERNARY(shf_l_wrap_b32, u32, u32, u32, u32, (join(a, b) << (c & 31)) >> 32)
ASSAY_TERNARY(shf_r_clamp_b32, u32, u32, u32, u32, join(a, b) >> at_most_32(c))
ASSAY_TERNARY(shf_r_wrap_b32, u32, u32, u32, u32, join(a, b) >> (c & 31))

ASSAY_TERNARY(prmt_b32, u32, u32, u32, u32, permute(a, b, c))
ASSAY_TERNARY(prmt_f4e_b32, u32, u32, u32, u32, join(a, b) >> ((c & 3) * 8))
ASSAY_TERNARY(prmt_b4e_b32, u32, u32, u32, u32,
              permute_by(a, b, [c](u32 i) { return ((c & 3) - i) & 7; }))
ASSAY_TERNARY(prmt_rc8_b32, u32, u32, u32, u32, permute_by(a, b, [c](u32) { return c & 3; }))
ASSAY_TERNARY(prmt_ecl_b32, u32, u32, u32, u32,
              permute_by(a, b, [c](u32 i) { return i < (c & 3) ? c & 3 : i; }))
ASSAY_TERNARY(prmt_ecr_b32, u32, u32, u32, u32,
              permute_by(a, b, [c](u32 i) { return i < (c & 3) ? i : c & 3; }))
ASSAY_TERNARY(prmt_rc16_b32, u32, u32, u32, u32,
              permute_by(a, b, [c](u32 i) { return (c & 1) * 2 + (i & 1); }))

} // namespace

void add_bits(PureHandlers* table) {
#define ASSAY_IN_bits(name) table[pure_index(ir::OpCode::name)] = ASSAY_PURE_HANDLERS(name);
#include "vgpu/handlers/rows.inc"
}

} // namespace assay::vgpu::ASSAY_LEVEL
