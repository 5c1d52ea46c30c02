// The approximate functions: PTX ISA 9.0, sections 9.7.3 (f32, f64) and 9.7.4 (f16). Each is
// computed in double and rounded once to the result's type; .ftz by the control register.
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

// The forms without .ftz are the flushing unit with scaling around it (ptxas 13.0 for sm_90).
ASSAY_INLINE float unit_rcp(float a) { return fp::flush(float(1.0 / double(a))); }
ASSAY_INLINE float rcp(float a) {
  float m = fp::absolute(a);
  float scale = m < 0x1p-126f ? 0x1p24f : m > 0x1p126f ? 0.25f : 1.0f;
  return unit_rcp(a * scale) * scale;
}
ASSAY_INLINE float lg2(float a) {
  bool small = a < 0x1p-126f;
  float r = float(fp::log2_of(double(small ? a * 0x1p24f : a)));
  return small ? r - 24.0f : r;
}
ASSAY_INLINE float ex2(float a) {
  bool small = a < -126.0f;
  float r = float(fp::exp2_of(double(small ? a * 0.5f : a)));
  return small ? r * r : r;
}
// The angle in revolutions, truncated to 24 bits (FMUL.RZ).
ASSAY_INLINE double turns(float a) {
  double exact = double(a) * 0x1.45f306p-3; // 48 bits
  double truncated = fp::real(fp::bits(exact) & 0xffffffffe0000000ull);
  return truncated;
}
ASSAY_INLINE double sine(float a, int quarters) {
  double finite = fp::sine_of_turns(turns(a), quarters);
  return fp::absolute(a) <= 0x1.fffffep127f ? finite : double(a - a);
}

UNARY(rcp_approx_f32, false, rcp(a))
UNARY(rcp_approx_ftz_f32, true, 1.0 / double(a))
BOTH(sqrt_approx, __builtin_sqrt(double(a)))
BOTH(rsqrt_approx, 1.0 / __builtin_sqrt(double(a)))
BOTH(sin_approx, sine(a, 0))
BOTH(cos_approx, sine(a, 1))
UNARY(lg2_approx_f32, false, lg2(a))
UNARY(lg2_approx_ftz_f32, true, fp::log2_of(double(a)))
UNARY(ex2_approx_f32, false, ex2(a))
UNARY(ex2_approx_ftz_f32, true, fp::exp2_of(double(a)))
UNARY(tanh_approx_f32, false, fp::tanh_of(double(a)))

// div.approx is a · rcp(b) and so 0 or NaN where |b| > 2^126; div.full scales such operands.
ASSAY_INLINE float divide_approx(float a, float b) {
  float scale = fp::absolute(b) < 0x1p-126f ? 0x1p24f : 1.0f;
  return (a * scale) * unit_rcp(b * scale);
}
ASSAY_INLINE float divide_full(float a, float b) {
  float m = fp::absolute(b);
  float scale = m < 0x1p-126f ? 0x1p24f : m > 0x1p126f ? 0.25f : 1.0f;
  return (a * scale) * unit_rcp(b * scale);
}
BINARY(div_approx_f32, false, divide_approx(a, b))
BINARY(div_approx_ftz_f32, true, divide_approx(a, b))
BINARY(div_full_f32, false, divide_full(a, b))
BINARY(div_full_ftz_f32, true, divide_full(a, b))

// The 64-bit approximations read the upper half of their operand and give the upper half of a
// result.
ASSAY_INLINE double upper(double x) { return fp::real(fp::bits(x) & 0xffffffff00000000ull); }
ASSAY_INLINE double flushed(double x) {
  uint64_t b = fp::bits(x);
  return fp::real((b & 0x7ff0000000000000ull) == 0 ? b & 0x8000000000000000ull : b);
}
ASSAY_INLINE double nearest_upper(double x) {
  double r = fp::real((fp::bits(x) + 0x80000000ull) & 0xffffffff00000000ull);
  return x == x ? r : upper(fp::real(fp::kNan64));
}
#define UNARY64(name, expression)                                                                  \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    map<Full>(                                                                                     \
        lanes<double>(regs, op.d), w.exec,                                                         \
        [](double a) -> double { return nearest_upper(expression); }, lanes<double>(regs, op.a));  \
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
