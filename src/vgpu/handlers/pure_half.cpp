// f16, bf16 and their packed pairs: PTX ISA 9.0, section 9.7.4. One function on 16-bit patterns
// serves the scalar operation and both halves of the packed one.
#include "fp/approximate.hpp"
#include "fp/half.hpp"
#include "vgpu/handlers/pure.hpp"

namespace assay::vgpu::ASSAY_LEVEL {
namespace {

using u32 = uint32_t;
using fp::Bf16;
using fp::F16;

ASSAY_INLINE u32 low(u32 x) { return x & 0xffff; }

#define UNARY(name, suffix, expression)                                                            \
  ASSAY_INLINE u32 name##_##suffix##_of(u32 a) { return expression; }                              \
  ASSAY_UNARY(name##_##suffix, u32, u32, name##_##suffix##_of(a))                                  \
  ASSAY_UNARY(name##_##suffix##x2, u32, u32,                                                       \
              name##_##suffix##_of(low(a)) | name##_##suffix##_of(a >> 16) << 16)
#define BINARY(name, suffix, expression)                                                           \
  ASSAY_INLINE u32 name##_##suffix##_of(u32 a, u32 b) { return expression; }                       \
  ASSAY_BINARY(name##_##suffix, u32, u32, u32, name##_##suffix##_of(a, b))                         \
  ASSAY_BINARY(name##_##suffix##x2, u32, u32, u32,                                                 \
               name##_##suffix##_of(low(a), low(b)) | name##_##suffix##_of(a >> 16, b >> 16)       \
                                                          << 16)
#define TERNARY(name, suffix, expression)                                                          \
  ASSAY_INLINE u32 name##_##suffix##_of(u32 a, u32 b, u32 c) { return expression; }                \
  ASSAY_TERNARY(name##_##suffix, u32, u32, u32, u32, name##_##suffix##_of(a, b, c))                \
  ASSAY_TERNARY(name##_##suffix##x2, u32, u32, u32, u32,                                           \
                name##_##suffix##_of(low(a), low(b), low(c)) |                                     \
                    name##_##suffix##_of(a >> 16, b >> 16, c >> 16) << 16)

#define BOTH_TYPES(suffix, T, one)                                                                 \
  BINARY(add_rn, suffix, T::narrow(T::widen(a) + T::widen(b)))                                     \
  BINARY(sub_rn, suffix, T::narrow(T::widen(a) - T::widen(b)))                                     \
  BINARY(mul_rn, suffix, T::narrow(T::widen(a) * T::widen(b)))                                     \
  TERNARY(fma_rn, suffix, T::narrow(T::fma(T::widen(a), T::widen(b), T::widen(c))))                \
  UNARY(neg, suffix, fp::canonical16<T>(a ^ 0x8000))                                               \
  UNARY(abs, suffix, fp::canonical16<T>(a & 0x7fff))                                               \
  BINARY(min, suffix, fp::minimum16<T>(a, b))                                                      \
  BINARY(max, suffix, fp::maximum16<T>(a, b))                                                      \
  BINARY(min_nan, suffix, fp::nan_of_either16<T>(fp::minimum16<T>(a, b), a, b))                    \
  BINARY(max_nan, suffix, fp::nan_of_either16<T>(fp::maximum16<T>(a, b), a, b))                    \
  BINARY(min_xorsign, suffix, fp::xor_sign16<T>(fp::minimum16<T>(a & 0x7fff, b & 0x7fff), a, b))   \
  BINARY(max_xorsign, suffix, fp::xor_sign16<T>(fp::maximum16<T>(a & 0x7fff, b & 0x7fff), a, b))   \
  BINARY(min_nan_xorsign, suffix,                                                                  \
         fp::xor_sign16<T>(fp::nan_of_either16<T>(fp::minimum16<T>(a & 0x7fff, b & 0x7fff), a, b), \
                           a, b))                                                                  \
  BINARY(max_nan_xorsign, suffix,                                                                  \
         fp::xor_sign16<T>(fp::nan_of_either16<T>(fp::maximum16<T>(a & 0x7fff, b & 0x7fff), a, b), \
                           a, b))                                                                  \
  UNARY(relu, suffix, fp::rectify16<T>(a))                                                         \
  UNARY(sat, suffix, fp::saturate16<T>(a, one))                                                    \
  UNARY(tanh_approx, suffix, T::cut(float(fp::tanh_of(T::widen(a)))))
BOTH_TYPES(f16, F16, 0x3c00)
BOTH_TYPES(bf16, Bf16, 0x3f80)
// The 16-bit approximations cut the result of the f32 unit (measured on sm_90).
UNARY(ex2_approx, f16, F16::cut(float(fp::exp2_of(F16::widen(a)))))
UNARY(ex2_approx_ftz, bf16, Bf16::cut(fp::flush(float(fp::exp2_of(fp::flush(Bf16::widen(a)))))))

// f16 with .ftz: operands flushed, results that are tiny after rounding too.
ASSAY_INLINE float flushed(u32 h) { return fp::f16_to_f32(fp::flush_f16(h)); }
UNARY(flush, f16, fp::flush_f16(a))
BINARY(add_rn_ftz, f16, fp::f32_to_f16_ftz(flushed(a) + flushed(b)))
BINARY(sub_rn_ftz, f16, fp::f32_to_f16_ftz(flushed(a) - flushed(b)))
BINARY(mul_rn_ftz, f16, fp::f32_to_f16_ftz(flushed(a) * flushed(b)))
TERNARY(fma_rn_ftz, f16, fp::f32_to_f16_ftz(F16::fma(flushed(a), flushed(b), flushed(c))))
UNARY(neg_ftz, f16, fp::canonical16<F16>(fp::flush_f16(a) ^ 0x8000))
UNARY(abs_ftz, f16, fp::canonical16<F16>(fp::flush_f16(a) & 0x7fff))

} // namespace

void add_half(PureHandlers* table) {
#define ASSAY_IN_half(name) table[pure_index(ir::OpCode::name)] = ASSAY_PURE_HANDLERS(name);
#include "vgpu/handlers/rows.inc"
}

} // namespace assay::vgpu::ASSAY_LEVEL
