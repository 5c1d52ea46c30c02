// Where lowering looks for uses of what the manual leaves open.
#include "lowering.hpp"

namespace assay::ir {
namespace {

size_t checks(const Program& p, OpCode code) { return find(p, code).size(); }

TEST(OpenValues, WrittenRegistersAreNotWatched) {
  auto p = lower_body("ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;"
                      "mov.u32 %r2, 0; @%p1 mov.u32 %r2, 1; st.global.u32 [%d1], %r2; ret;");
  EXPECT_EQ(checks(*p, OpCode::check_written), 0u);
  EXPECT_TRUE(p->functions[0].undefined.empty());
}

TEST(OpenValues, AReadingIsCheckedUnderItsOwnGuard) {
  auto p = lower_body("ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;"
                      "@%p1 ld.global.u32 %r2, [%d1]; @!%p1 st.global.u32 [%d1], %r2; ret;");
  ASSERT_EQ(checks(*p, OpCode::check_written), 1u);
  const Op& check = p->ops[find(*p, OpCode::check_written)[0]];
  const Op& st = p->ops[find(*p, OpCode::st)[0]];
  EXPECT_EQ(check.c, st.guard);
  EXPECT_TRUE(check.flags & kNegate);
  EXPECT_EQ(check.d, p->mem[st.c].regs[0]);
}

TEST(OpenValues, ACopyOfAnUnwrittenRegisterIsNoReading) {
  // r3 is written twice, so that the copy stays.
  auto p = lower_body("ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;"
                      "@%p1 bra L; mov.u32 %r3, %r2; bra E; L: mov.u32 %r3, 4; E:"
                      "@%p1 st.global.u32 [%d1], %r3; ret;");
  ASSERT_EQ(checks(*p, OpCode::check_written), 1u);
  uint32_t at = find(*p, OpCode::check_written)[0];
  EXPECT_EQ(p->ops[at].d, p->mem[p->ops[find(*p, OpCode::st)[0]].c].regs[0]);
}

TEST(OpenValues, NothingStandsBetweenAMeetAndItsOperation) {
  auto p = lower_body("ld.param.u64 %d1, [a]; shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;"
                      "st.global.u32 [%d1], %r1; ret;");
  ASSERT_EQ(checks(*p, OpCode::check_written), 2u); // both read %r2
  EXPECT_EQ(find(*p, OpCode::meet).at(0) + 1, find(*p, OpCode::shfl).at(0));
}

TEST(OpenValues, DivisionsByWhatIsNoZeroAreNotChecked) {
  const char* start = "ld.param.u64 %d1, [a]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x;";
  const char* end = "st.global.u32 [%d1], %r3; ret;";
  auto with = [&](const char* division) {
    return checks(*lower_body(start + std::string(division) + end), OpCode::check_divisor);
  };
  EXPECT_EQ(with("div.u32 %r3, %r1, 3;"), 0u);
  EXPECT_EQ(with("div.u32 %r3, %r1, 0;"), 1u);
  EXPECT_EQ(with("div.u32 %r3, %r1, %r2;"), 1u);
  EXPECT_EQ(with("rem.s32 %r3, %r1, %r2;"), 1u);
  EXPECT_EQ(with("cvt.u64.u32 %d2, %r1; div.s64 %d3, %d1, %d2; cvt.u32.u64 %r3, %d3;"), 1u);
}

// %r1 is read in the loop's first turn, before its only writing.
TEST(OpenValues, WhatTheLaunchFixesIsNotKnownBeforeItIsRead) {
  auto p = lower_body("ld.param.u64 %d1, [a]; mov.u32 %r2, 0; L: st.global.u32 [%d1], %r1;"
                      "mov.u32 %r1, %tid.x; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2;"
                      "@%p1 bra L; ret;");
  EXPECT_EQ(checks(*p, OpCode::special), 1u);
  EXPECT_EQ(checks(*p, OpCode::check_written), 1u);
}

} // namespace
} // namespace assay::ir
