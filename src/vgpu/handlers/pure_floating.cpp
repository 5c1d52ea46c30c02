// Arithmetic of f32 and f64: PTX ISA 9.0, section 9.7.3. Modes and .ftz by the control register.
#include "fp/control.hpp"
#include "fp/fma.hpp"
#include "vgpu/handlers/patterns.hpp"
#include "vgpu/handlers/pure.hpp"

#include <cmath>

namespace assay::vgpu::ASSAY_LEVEL {
namespace {

using fp::Rounding;

ASSAY_INLINE float root(float x) { return __builtin_sqrtf(x); }
ASSAY_INLINE double root(double x) { return __builtin_sqrt(x); }

// d = raw(a...), NaNs made canonical. Apart and seldom: in a chain of sums the next one would wait
// for the choice between result and canonical NaN, which takes as long as the sum.
template <bool Full, class F, class... A>
ASSAY_INLINE void canonical_map(Lanes<float>& d, const WarpMasks& w, F raw, const A&... a) {
  if constexpr (!Full)
    return map<false>(d, w.exec, [raw](auto... x) { return fp::canonical(raw(x...)); }, a...);
  map<true>(d, w.exec, raw, a...);
  if (any_nan(d)) [[unlikely]]
    map<true>(d, w.exec, [](float x) { return fp::canonical(x); }, d);
}

#define UNARY(name, T, mode, ftz, expression)                                                      \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    fp::Control<Rounding::mode, ftz> control;                                                      \
    map<Full>(                                                                                     \
        lanes<T>(regs, op.d), w.exec, [](T a) -> T { return expression; }, lanes<T>(regs, op.a));  \
  }
#define BINARY(name, T, mode, ftz, expression)                                                     \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    fp::Control<Rounding::mode, ftz> control;                                                      \
    map<Full>(                                                                                     \
        lanes<T>(regs, op.d), w.exec, [](T a, T b) -> T { return expression; },                    \
        lanes<T>(regs, op.a), lanes<T>(regs, op.b));                                               \
  }
template <bool Ftz> ASSAY_INLINE float fused_rn(float a, float b, float c) {
#ifdef __FMA__
  return __builtin_fmaf(a, b, c);
#else
  return fp::fused<Rounding::rn, Ftz>(a, b, c);
#endif
}
#define COMMON(name, ftz, raw, ...)                                                                \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    fp::Control<Rounding::rn, ftz> control;                                                        \
    canonical_map<Full>(lanes<float>(regs, op.d), w, raw, __VA_ARGS__);                            \
  }
#define OPERAND(x) lanes<float>(regs, op.x)
#define COMMON_F32(suffix, ftz)                                                                    \
  COMMON(add_##suffix, ftz, [](float a, float b) { return a + b; }, OPERAND(a), OPERAND(b))        \
  COMMON(sub_##suffix, ftz, [](float a, float b) { return a - b; }, OPERAND(a), OPERAND(b))        \
  COMMON(mul_##suffix, ftz, [](float a, float b) { return a * b; }, OPERAND(a), OPERAND(b))        \
  COMMON(                                                                                          \
      fma_##suffix, ftz, [](float a, float b, float c) { return fused_rn<ftz>(a, b, c); },         \
      OPERAND(a), OPERAND(b), OPERAND(c))
COMMON_F32(rn_f32, false)
COMMON_F32(rn_ftz_f32, true)
#undef COMMON_F32

#define TERNARY(name, T, mode, ftz)                                                                \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    fp::Control<Rounding::mode, ftz> control;                                                      \
    map<Full>(                                                                                     \
        lanes<T>(regs, op.d), w.exec,                                                              \
        [](T a, T b, T c) -> T { return fp::fused<Rounding::mode, ftz>(a, b, c); },                \
        lanes<T>(regs, op.a), lanes<T>(regs, op.b), lanes<T>(regs, op.c));                         \
  }
#define DIRECTED(suffix, mode, ftz)                                                                \
  BINARY(add_##suffix, float, mode, ftz, fp::canonical(a + b))                                     \
  BINARY(sub_##suffix, float, mode, ftz, fp::canonical(a - b))                                     \
  BINARY(mul_##suffix, float, mode, ftz, fp::canonical(a* b))                                      \
  TERNARY(fma_##suffix, float, mode, ftz)
#define ARITHMETIC(suffix, mode, ftz)                                                              \
  BINARY(div_##suffix, float, mode, ftz, fp::canonical(a / b))                                     \
  UNARY(rcp_##suffix, float, mode, ftz, fp::canonical(1.0f / a))                                   \
  UNARY(sqrt_##suffix, float, mode, ftz, fp::canonical(root(a)))
// Which of several NaN operands is kept: fp::kept takes the last.
#define ARITHMETIC_F64(suffix, mode)                                                               \
  BINARY(add_##suffix, double, mode, false, fp::kept(a + b, a, b))                                 \
  BINARY(sub_##suffix, double, mode, false, fp::kept(a - b, a, b))                                 \
  BINARY(mul_##suffix, double, mode, false, fp::kept(a* b, a, b))                                  \
  BINARY(div_##suffix, double, mode, false, fp::kept(a / b, b, a))                                 \
  UNARY(rcp_##suffix, double, mode, false, fp::kept(1.0 / a, a))                                   \
  UNARY(sqrt_##suffix, double, mode, false, fp::kept(root(a), a))                                  \
  TERNARY(fma_##suffix, double, mode, false)
#define MODES(mode)                                                                                \
  ARITHMETIC(mode##_f32, mode, false)                                                              \
  ARITHMETIC(mode##_ftz_f32, mode, true)                                                           \
  ARITHMETIC_F64(mode##_f64, mode)
MODES(rn)
MODES(rz)
MODES(rm)
MODES(rp)
#undef MODES
#undef ARITHMETIC
DIRECTED(rz_f32, rz, false)
DIRECTED(rm_f32, rm, false)
DIRECTED(rp_f32, rp, false)
DIRECTED(rz_ftz_f32, rz, true)
DIRECTED(rm_ftz_f32, rm, true)
DIRECTED(rp_ftz_f32, rp, true)
#undef DIRECTED

#define F32(name, expression) UNARY(name, float, rn, false, fp::canonical(expression))
#define F32_2(name, expression) BINARY(name, float, rn, false, fp::canonical(expression))
#define BOTH(name, expression)                                                                     \
  F32(name##_f32, [](float a) { return expression; }(a))                                           \
  F32(name##_ftz_f32, [](float a) { return expression; }(fp::flush(a)))
#define BOTH_2(name, expression)                                                                   \
  F32_2(name##_f32, [](float a, float b) { return expression; }(a, b))                             \
  F32_2(name##_ftz_f32, [](float a, float b) { return expression; }(fp::flush(a), fp::flush(b)))
BOTH(abs, fp::absolute(a))
BOTH(neg, fp::negative(a))
BOTH_2(min, fp::minimum(a, b))
BOTH_2(max, fp::maximum(a, b))
F32_2(min_nan_f32, fp::minimum_nan(a, b))
F32_2(max_nan_f32, fp::maximum_nan(a, b))
F32_2(min_nan_ftz_f32, fp::minimum_nan(fp::flush(a), fp::flush(b)))
F32_2(max_nan_ftz_f32, fp::maximum_nan(fp::flush(a), fp::flush(b)))

// .xorsign.abs: of the magnitudes, with the exclusive or of the signs.
#define XORSIGN(name, function, prepare)                                                           \
  F32_2(name, fp::xor_sign(function(fp::absolute(prepare(a)), fp::absolute(prepare(b))), a, b))
XORSIGN(min_xorsign_f32, fp::minimum, )
XORSIGN(max_xorsign_f32, fp::maximum, )
XORSIGN(min_xorsign_ftz_f32, fp::minimum, fp::flush)
XORSIGN(max_xorsign_ftz_f32, fp::maximum, fp::flush)
XORSIGN(min_nan_xorsign_f32, fp::minimum_nan, )
XORSIGN(max_nan_xorsign_f32, fp::maximum_nan, )
XORSIGN(min_nan_xorsign_ftz_f32, fp::minimum_nan, fp::flush)
XORSIGN(max_nan_xorsign_ftz_f32, fp::maximum_nan, fp::flush)

ASSAY_UNARY(flush_f32, float, float, fp::canonical(fp::flush(a)))
ASSAY_UNARY(relu_f32, float, float, fp::rectify(a))
ASSAY_UNARY(sat_f32, float, float, fp::saturate(a))
ASSAY_BINARY(copysign_f32, uint32_t, uint32_t, uint32_t, fp::copy_sign(a, b))
ASSAY_BINARY(copysign_f64, uint64_t, uint64_t, uint64_t, fp::copy_sign(a, b))
UNARY(abs_f64, double, rn, false, fp::kept(fp::absolute(a), a))
UNARY(neg_f64, double, rn, false, fp::kept(fp::negative(a), a))
BINARY(min_f64, double, rn, false, fp::minimum(a, b))
BINARY(max_f64, double, rn, false, fp::maximum(a, b))

} // namespace

void add_floating(PureHandlers* table) {
#define ASSAY_IN_floating(name) table[pure_index(ir::OpCode::name)] = ASSAY_PURE_HANDLERS(name);
#include "vgpu/handlers/rows.inc"
}

} // namespace assay::vgpu::ASSAY_LEVEL
