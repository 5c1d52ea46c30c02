// Comparison and selection: PTX ISA 9.0, section 9.7.6, and testp. Results are lane masks; a
// comparison with gt, ge, gtu or geu is lowered with its operands exchanged.
#include "fp/scalar.hpp"
#include "vgpu/handlers/pure.hpp"

namespace assay::vgpu::ASSAY_LEVEL {
namespace {

using u32 = uint32_t;
using s32 = int32_t;
using u64 = uint64_t;
using s64 = int64_t;

#define COMPARE(name, A, expression) ASSAY_BINARY(name, s32, A, A, (expression) ? -1 : 0)

ASSAY_TERNARY(selp_b32, u32, u32, u32, s32, c ? a : b)
// The predicate is widened first: a choice by a narrower lane would not vectorise.
ASSAY_TERNARY(selp_b64, u64, u64, u64, s32, (a & u64(s64(c))) | (b & ~u64(s64(c))))
COMPARE(setp_eq_b32, u32, a == b)
COMPARE(setp_ne_b32, u32, a != b)
COMPARE(setp_eq_b64, u64, a == b)
COMPARE(setp_ne_b64, u64, a != b)
COMPARE(setp_lt_s16, u32, int16_t(a) < int16_t(b))
COMPARE(setp_le_s16, u32, int16_t(a) <= int16_t(b))
COMPARE(setp_lt_s32, s32, a < b)
COMPARE(setp_le_s32, s32, a <= b)
COMPARE(setp_lt_u32, u32, a < b)
COMPARE(setp_le_u32, u32, a <= b)
COMPARE(setp_lt_s64, s64, a < b)
COMPARE(setp_le_s64, s64, a <= b)
COMPARE(setp_lt_u64, u64, a < b)
COMPARE(setp_le_u64, u64, a <= b)

// The u forms hold when an operand is NaN, the others do not.
#define FLOAT_COMPARISONS(type, T, prepare)                                                        \
  COMPARE(setp_eq_##type, T, prepare(a) == prepare(b))                                             \
  COMPARE(setp_neu_##type, T, prepare(a) != prepare(b))                                            \
  COMPARE(setp_lt_##type, T, prepare(a) < prepare(b))                                              \
  COMPARE(setp_le_##type, T, prepare(a) <= prepare(b))                                             \
  COMPARE(setp_ne_##type, T, (prepare(a) < prepare(b)) | (prepare(a) > prepare(b)))                \
  COMPARE(setp_equ_##type, T, !((prepare(a) < prepare(b)) | (prepare(a) > prepare(b))))            \
  COMPARE(setp_ltu_##type, T, !(prepare(a) >= prepare(b)))                                         \
  COMPARE(setp_leu_##type, T, !(prepare(a) > prepare(b)))                                          \
  COMPARE(setp_num_##type, T, (a == a) & (b == b))                                                 \
  COMPARE(setp_nan_##type, T, (a != a) | (b != b))
#define AS_IS(x) (x)
#define FLUSHED(x) fp::flush(x)
FLOAT_COMPARISONS(f32, float, AS_IS)
FLOAT_COMPARISONS(ftz_f32, float, FLUSHED)
FLOAT_COMPARISONS(f64, double, AS_IS)
#undef FLOAT_COMPARISONS

#define TEST(name, U, expression) ASSAY_UNARY(name, s32, U, (expression) ? -1 : 0)
#define TESTP(type, U)                                                                             \
  TEST(testp_finite_##type, U, fp::magnitude(a) < fp::infinity_of(a))                              \
  TEST(testp_infinite_##type, U, fp::magnitude(a) == fp::infinity_of(a))                           \
  TEST(testp_number_##type, U, fp::magnitude(a) <= fp::infinity_of(a))                             \
  TEST(testp_notanumber_##type, U, fp::magnitude(a) > fp::infinity_of(a))                          \
  TEST(testp_subnormal_##type, U, fp::magnitude(a) - 1 < fp::least_normal_of(a) - 1)               \
  TEST(testp_normal_##type, U,                                                                     \
       (fp::magnitude(a) < fp::infinity_of(a)) &                                                   \
           !(fp::magnitude(a) - 1 < fp::least_normal_of(a) - 1)) /* zeros are normal */
TESTP(f32, u32)
TESTP(f64, u64)
#undef TESTP
#undef TEST

} // namespace

void add_compare(PureHandlers* table) {
#define ASSAY_IN_compare(name) table[pure_index(ir::OpCode::name)] = ASSAY_PURE_HANDLERS(name);
#include "vgpu/handlers/rows.inc"
}

} // namespace assay::vgpu::ASSAY_LEVEL
