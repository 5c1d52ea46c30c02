// cvt between the register-wide types; narrower integers are extended and clamped around these by
// lowering. PTX ISA 9.0, section 9.7.9.21.
#include "fp/control.hpp"
#include "fp/fp8.hpp"
#include "fp/half.hpp"
#include "fp/integer.hpp"
#include "fp/soft.hpp"
#include "vgpu/handlers/pure.hpp"

#include <type_traits>

namespace assay::vgpu::ASSAY_LEVEL {
namespace {

using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;
using fp::Rounding;

#define TO_INTEGER(spelling, mode)                                                                 \
  ASSAY_UNARY(cvt_##spelling##_s32_f32, s32, float, (fp::to_integer<s32, Rounding::mode>(a)))      \
  ASSAY_UNARY(cvt_##spelling##_u32_f32, u32, float, (fp::to_integer<u32, Rounding::mode>(a)))      \
  ASSAY_UNARY(cvt_##spelling##_s64_f32, s64, float, (fp::to_integer<s64, Rounding::mode>(a)))      \
  ASSAY_UNARY(cvt_##spelling##_u64_f32, u64, float, (fp::to_integer<u64, Rounding::mode>(a)))      \
  ASSAY_UNARY(cvt_##spelling##_s32_f64, s32, double, (fp::to_integer<s32, Rounding::mode>(a)))     \
  ASSAY_UNARY(cvt_##spelling##_u32_f64, u32, double, (fp::to_integer<u32, Rounding::mode>(a)))     \
  ASSAY_UNARY(cvt_##spelling##_s64_f64, s64, double, (fp::to_integer<s64, Rounding::mode>(a)))     \
  ASSAY_UNARY(cvt_##spelling##_u64_f64, u64, double, (fp::to_integer<u64, Rounding::mode>(a)))     \
  ASSAY_UNARY(cvt_##spelling##_f32_f32, float, float,                                              \
              fp::canonical(fp::integral<Rounding::mode>(a)))                                      \
  ASSAY_UNARY(cvt_##spelling##_f64_f64, double, double,                                            \
              fp::kept(fp::integral<Rounding::mode>(a), a))
TO_INTEGER(rni, rn)
TO_INTEGER(rzi, rz)
TO_INTEGER(rmi, rm)
TO_INTEGER(rpi, rp)
#undef TO_INTEGER

// Rounded by the processor under a mode.
// A zero stays +0: what compilers make of 64-bit unsigned conversions gives -0 when rounding down.
template <class D, class A> ASSAY_INLINE D from(A a) {
  if constexpr (std::is_unsigned_v<A>)
    return a ? D(a) : D(0);
  else
    return D(a);
}
#define UNDER(name, D, A, mode, ftz)                                                               \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    fp::Control<Rounding::mode, ftz> control;                                                      \
    map<Full>(                                                                                     \
        lanes<D>(regs, op.d), w.exec, [](A a) -> D { return from<D>(a); }, lanes<A>(regs, op.a));  \
  }
template <class I> u32 from_integer(I a, fp::Format to, Rounding mode) {
  bool negative = a < 0;
  return u32(fp::from_integer(negative ? 0 - u64(a) : u64(a), negative, to, mode));
}
// To nearest these have forms that vectorise.
template <Rounding Mode> ASSAY_INLINE u32 to_f16(float a) {
  if constexpr (Mode == Rounding::rn) return fp::f32_to_f16(a);
  return a == a ? u32(fp::convert(fp::bits(a), fp::kF32, fp::kF16, Mode)) : fp::kNan16;
}
template <Rounding Mode> ASSAY_INLINE u32 to_bf16(float a) {
  if constexpr (Mode == Rounding::rn) return fp::f32_to_bf16(a);
  return a == a ? u32(fp::convert(fp::bits(a), fp::kF32, fp::kBf16, Mode)) : fp::kNan16;
}

#define TO_FLOAT(mode)                                                                             \
  UNDER(cvt_##mode##_f32_s32, float, s32, mode, false)                                             \
  UNDER(cvt_##mode##_f32_u32, float, u32, mode, false)                                             \
  UNDER(cvt_##mode##_f32_s64, float, s64, mode, false)                                             \
  UNDER(cvt_##mode##_f32_u64, float, u64, mode, false)                                             \
  UNDER(cvt_##mode##_f64_s32, double, s32, mode, false)                                            \
  UNDER(cvt_##mode##_f64_u32, double, u32, mode, false)                                            \
  UNDER(cvt_##mode##_f64_s64, double, s64, mode, false)                                            \
  UNDER(cvt_##mode##_f64_u64, double, u64, mode, false)                                            \
  UNDER(cvt_##mode##_f32_f64, float, double, mode, false)                                          \
  UNDER(cvt_##mode##_ftz_f32_f64, float, double, mode, true)                                       \
  ASSAY_UNARY(cvt_##mode##_f16_s64, u32, s64, from_integer(a, fp::kF16, Rounding::mode))           \
  ASSAY_UNARY(cvt_##mode##_f16_u64, u32, u64, from_integer(a, fp::kF16, Rounding::mode))           \
  ASSAY_UNARY(cvt_##mode##_bf16_s64, u32, s64, from_integer(a, fp::kBf16, Rounding::mode))         \
  ASSAY_UNARY(cvt_##mode##_bf16_u64, u32, u64, from_integer(a, fp::kBf16, Rounding::mode))         \
  ASSAY_UNARY(cvt_##mode##_f16_f32, u32, float, to_f16<Rounding::mode>(a))                         \
  ASSAY_UNARY(cvt_##mode##_bf16_f32, u32, float, to_bf16<Rounding::mode>(a))                       \
  ASSAY_UNARY(cvt_##mode##_f16_f64, u32, u64, fp::convert(a, fp::kF64, fp::kF16, Rounding::mode))  \
  ASSAY_UNARY(cvt_##mode##_bf16_f64, u32, u64, fp::convert(a, fp::kF64, fp::kBf16, Rounding::mode))
TO_FLOAT(rn)
TO_FLOAT(rz)
TO_FLOAT(rm)
TO_FLOAT(rp)
#undef TO_FLOAT

ASSAY_UNARY(cvt_f64_f32, double, float, double(a)) // x86 keeps payloads too
ASSAY_UNARY(cvt_f32_f16, float, u32, fp::f16_to_f32(a))
ASSAY_UNARY(cvt_f32_bf16, float, u32, fp::bf16_to_f32(a))
ASSAY_UNARY(cvt_rna_tf32_f32, u32, float, fp::f32_to_tf32_rna(a))
ASSAY_UNARY(cvt_rn_tf32_f32, u32, float, fp::f32_to_tf32_rn(a))
ASSAY_UNARY(cvt_rz_tf32_f32, u32, float, fp::f32_to_tf32_rz(a))
ASSAY_UNARY(cvt_rn_e4m3_f32, u32, float, fp::f32_to_e4m3(a))
ASSAY_UNARY(cvt_rn_e5m2_f32, u32, float, fp::f32_to_e5m2(a))
ASSAY_UNARY(cvt_f16_e4m3, u32, u32, fp::e4m3_to_f16(a))
ASSAY_UNARY(cvt_f16_e5m2, u32, u32, fp::e5m2_to_f16(a))

} // namespace

void add_convert(PureHandlers* table) {
#define ASSAY_IN_convert(name) table[pure_index(ir::OpCode::name)] = ASSAY_PURE_HANDLERS(name);
#include "vgpu/handlers/rows.inc"
}

} // namespace assay::vgpu::ASSAY_LEVEL
