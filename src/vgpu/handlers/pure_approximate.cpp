// The approximate functions: PTX ISA 9.0, sections 9.7.3 (f32, f64) and 9.7.4 (f16). Each is computed in
// double and rounded once to the result's type; .ftz by the control register.
#include "fp/approximate.hpp"
#include "fp/control.hpp"
#include "vgpu/handlers/pure.hpp"

namespace assay::vgpu::ASSAY_LEVEL {
namespace {

using fp::Rounding;

#define UNARY(name, ftz, expression)                                                               \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    fp::Control<Rounding::rn, ftz> control;                                                        \
    map<Full>(                                                                                     \
        lanes<float>(regs, op.d), w.exec,                                                          \
        [](float a) -> float { return fp::canonical(float(expression)); },                         \
        lanes<float>(regs, op.a));                                                                 \
  }
#define BINARY(name, ftz, expression)                                                              \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    fp::Control<Rounding::rn, ftz> control;                                                        \
    map<Full>(                                                                                     \
        lanes<float>(regs, op.d), w.exec,                                                          \
        [](float a, float b) -> float { return fp::canonical(float(expression)); },                \
        lanes<float>(regs, op.a), lanes<float>(regs, op.b));                                       \
  }
#define BOTH(name, expression)                                                                     \
  UNARY(name##_f32, false, expression)                                                             \
  UNARY(name##_ftz_f32, true, expression)

// The angle in revolutions: one f32 multiplication.
ASSAY_INLINE double turns(float a) { return double(a * 0.15915494f); }
ASSAY_INLINE double sine(float a, int quarters) {
  double finite = fp::sine_of_turns(turns(a), quarters);
  return fp::absolute(a) < 0x1p126f ? finite : double(a - a);
}

BOTH(rcp_approx, 1.0 / double(a))
BOTH(sqrt_approx, __builtin_sqrt(double(a)))
BOTH(rsqrt_approx, 1.0 / __builtin_sqrt(double(a)))
BOTH(sin_approx, sine(a, 0))
BOTH(cos_approx, sine(a, 1))
BOTH(lg2_approx, fp::log2_of(double(a)))
BOTH(ex2_approx, fp::exp2_of(double(a)))
UNARY(tanh_approx_f32, false, fp::tanh_of(double(a)))

// div.approx is a · rcp(b), and 0 or NaN where b is 2^126 or more; div.full scales such operands.
ASSAY_INLINE float divide_approx(float a, float b) { return a * float(1.0 / double(b)); }
ASSAY_INLINE float divide_full(float a, float b) {
  bool big = fp::absolute(b) > 0x1p126f;
  float scale = big ? 0.25f : 1.0f;
  return (a * scale) * float(1.0 / double(b * scale));
}
BINARY(div_approx_f32, false, divide_approx(a, b))
BINARY(div_approx_ftz_f32, true, divide_approx(a, b))
BINARY(div_full_f32, false, divide_full(a, b))
BINARY(div_full_ftz_f32, true, divide_full(a, b))

// The 64-bit approximations read the upper half of their operand and give the upper half of a result.
ASSAY_INLINE double upper(double x) { return fp::real(fp::bits(x) & 0xffffffff00000000ull); }
ASSAY_INLINE double flushed(double x) {
  uint64_t b = fp::bits(x);
  return fp::real((b & 0x7ff0000000000000ull) == 0 ? b & 0x8000000000000000ull : b);
}
#define UNARY64(name, expression)                                                                  \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    map<Full>(                                                                                     \
        lanes<double>(regs, op.d), w.exec,                                                         \
        [](double a) -> double { return fp::canonical(upper(expression)); },                       \
        lanes<double>(regs, op.a));                                                                \
  }
UNARY64(rcp_approx_ftz_f64, flushed(1.0 / flushed(upper(a))))
UNARY64(rsqrt_approx_f64, 1.0 / __builtin_sqrt(upper(a)))
UNARY64(rsqrt_approx_ftz_f64, 1.0 / __builtin_sqrt(flushed(upper(a))))

} // namespace

void add_approximate(PureHandlers* table) {
#define ASSAY_IN_approximate(name) table[pure_index(ir::OpCode::name)] = ASSAY_PURE_HANDLERS(name);
#include "vgpu/handlers/rows.inc"
}

} // namespace assay::vgpu::ASSAY_LEVEL
