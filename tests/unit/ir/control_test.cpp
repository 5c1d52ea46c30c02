// Blocks, reconvergence points, guards and the instruction counts of straight runs.
#include "lowering.hpp"

namespace assay::ir {
namespace {

uint32_t join_of(const Op& op) { return uint32_t(op.imm >> 32); }
uint32_t target_of(const Op& op) { return uint32_t(op.imm); }

TEST(Control, IfElseReconvergesAfterBothPaths) {
  auto p = lower_body("@%p1 bra L1; mov.b32 %r1, 1; bra L2; L1: mov.b32 %r1, 2; L2: "
                      "st.global.u32 [%d1], %r1; ret;");
  auto branches = find(*p, OpCode::branch);
  ASSERT_EQ(branches.size(), 1u);
  const Op& b = p->ops[branches[0]];
  ASSERT_LT(join_of(b), p->ops.size());
  EXPECT_EQ(p->ops[join_of(b)].code, OpCode::join);
  EXPECT_EQ(past_checks(*p, join_of(b) + 1).code, OpCode::st);
  EXPECT_EQ(b.length, 1);
}

TEST(Control, EarlyReturnIsNoReconvergencePoint) {
  auto p = lower_body("@%p1 bra L; st.global.u32 [%d1], %r1; L: ret;");
  const Op& b = p->ops[find(*p, OpCode::branch).at(0)];
  EXPECT_EQ(join_of(b), kNoIndex);
  EXPECT_TRUE(find(*p, OpCode::join).empty());
}

TEST(Control, EarlyReturnInsideABranchKeepsTheOuterReconvergence) {
  auto p = lower_body("@%p1 bra Y; @%p2 bra E; st.global.u32 [%d1], %r1; Y: "
                      "st.global.u32 [%d1+4], %r2; E: ret;");
  auto branches = find(*p, OpCode::branch);
  ASSERT_EQ(branches.size(), 2u);
  ASSERT_NE(join_of(p->ops[branches[0]]), kNoIndex);
  EXPECT_EQ(past_checks(*p, join_of(p->ops[branches[0]]) + 1).code, OpCode::st);
  EXPECT_EQ(join_of(p->ops[branches[1]]), kNoIndex);
}

TEST(Control, PathsThatTrapDoNotCount) {
  auto p = lower_body("@%p1 bra A; @%p2 bra T; st.global.u32 [%d1], %r1; bra A; T: trap; A: "
                      "st.global.u32 [%d1+4], %r2; ret;");
  auto branches = find(*p, OpCode::branch);
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_NE(join_of(p->ops[branches[0]]), kNoIndex);
  EXPECT_EQ(join_of(p->ops[branches[1]]), kNoIndex);
}

TEST(Control, LoopWithTwoExits) {
  auto p = lower_body("L: @%p1 bra X; st.global.u32 [%d1], %r1; @%p2 bra L; X: "
                      "st.global.u32 [%d1], %r2; ret;");
  auto branches = find(*p, OpCode::branch);
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_EQ(join_of(p->ops[branches[0]]), join_of(p->ops[branches[1]]));
  EXPECT_FALSE(p->ops[branches[0]].flags & kBackEdge);
  EXPECT_TRUE(p->ops[branches[1]].flags & kBackEdge);
  EXPECT_LE(target_of(p->ops[branches[1]]), branches[1]);
}

TEST(Control, EndlessLoopStillReconvergesInside) {
  auto p =
      lower_body("L: @%p1 bra A; st.global.u32 [%d1], %r1; A: st.global.u32 [%d1], %r2; bra L;");
  const Op& b = p->ops[find(*p, OpCode::branch).at(0)];
  ASSERT_NE(join_of(b), kNoIndex);
  EXPECT_EQ(past_checks(*p, join_of(b) + 1).code, OpCode::st);
}

TEST(Control, GuardedOperationsKeepTheirGuard) {
  auto p = lower_body("@!%p1 st.global.u32 [%d1], %r1; ret;");
  const Op& st = p->ops[find(*p, OpCode::st).at(0)];
  EXPECT_TRUE(st.flags & kGuarded);
  EXPECT_TRUE(st.flags & kGuardNegated);
  EXPECT_TRUE(find(*p, OpCode::branch).empty());
}

TEST(Control, OtherGuardedInstructionsGetABranchAround) {
  auto p = lower_body("@%p1 bar.sync 0; st.global.u32 [%d1], %r1; ret;");
  const Op& b = p->ops[find(*p, OpCode::branch).at(0)];
  EXPECT_TRUE(b.flags & kNegate);
  EXPECT_EQ(p->ops[target_of(b)].code, OpCode::join);
  EXPECT_EQ(past_checks(*p, target_of(b) + 1).code, OpCode::st);
  EXPECT_EQ(find(*p, OpCode::bar).at(0), find(*p, OpCode::branch).at(0) + 1);
}

TEST(Control, LengthsSumToTheInstructions) {
  auto p = lower_body("@%p1 bra L; st.global.u32 [%d1], %r1; @%p2 st.global.u32 [%d1], %r1; L: "
                      "@%p1 bar.sync 0; bar.sync 1; ret;");
  uint32_t sum = 0;
  for (const Op& op : p->ops) sum += op.length;
  EXPECT_EQ(sum, 6u);
}

TEST(Control, TablesOfIndexedBranches) {
  auto p =
      lower_body("T: .branchtargets A, B, A; brx.idx %r1, T; A: st.global.u32 [%d1], %r1; bra E;"
                 " B: st.global.u32 [%d1], %r2; E: st.global.u32 [%d1], %r3; ret;");
  ASSERT_EQ(p->tables.size(), 1u);
  ASSERT_EQ(p->tables[0].targets.size(), 3u);
  EXPECT_EQ(p->tables[0].targets[0], p->tables[0].targets[2]);
  ASSERT_NE(p->tables[0].reconverge, kNoIndex);
  EXPECT_EQ(p->ops[p->tables[0].reconverge].code, OpCode::join);
}

TEST(Control, UnknownInstructionsHarmOnlyTheirPlace) {
  auto p =
      lower_body("@%p1 bra L; tensormap.replace.foo [%d1], %r1; L: st.global.u32 [%d1], %r1; ret;");
  EXPECT_EQ(find(*p, OpCode::unsupported).size(), 1u);
  EXPECT_EQ(find(*p, OpCode::st).size(), 1u);
}

TEST(Control, LabelsHaveScopes) {
  auto p = lower_body("{ L: @%p1 bra L; } { L: @%p2 bra L; } ret;");
  auto branches = find(*p, OpCode::branch);
  ASSERT_EQ(branches.size(), 2u);
  EXPECT_NE(target_of(p->ops[branches[0]]), target_of(p->ops[branches[1]]));
}

TEST(Control, UnreachableCodeIsDropped) {
  auto p = lower_body("ret; st.global.u32 [%d1], %r1; ret;");
  EXPECT_EQ(p->ops.size(), 1u);
}

// The verifiers end on a loop even when the kernel has no register, and so no slot.
TEST(Control, LoopWithoutRegisters) { EXPECT_NE(lower_text(".entry k() { L: bra L; }"), nullptr); }

} // namespace
} // namespace assay::ir
