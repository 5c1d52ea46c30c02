// Warp-synchronous operations, barriers, fences, special registers.
#include "ir/special.hpp"
#include "lowering.hpp"

namespace assay::ir {
namespace {

TEST(Sync, ShuffleMeetsAndNamesItsPredicate) {
  auto p = lower_body(
      "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1; shfl.sync.idx.b32 %r3, %r2, %r4, 31, %r5;"
      "@%p1 st.global.u32 [%d1], %r1; st.global.u32 [%d1], %r3; ret;");
  auto at = find(*p, OpCode::shfl);
  ASSERT_EQ(at.size(), 2u);
  const Op& meet = p->ops[at[0] - 1];
  EXPECT_EQ(meet.code, OpCode::meet);
  EXPECT_EQ(meet.b, p->ops[at[0]].a);
  EXPECT_EQ(p->ops[at[0]].imm & 3, 1u);
  EXPECT_NE(p->extra[p->ops[at[0]].imm >> 8], kNoSlot);
  EXPECT_EQ(p->ops[at[1]].imm & 3, 3u);
  EXPECT_EQ(p->extra[p->ops[at[1]].imm >> 8], kNoSlot);
  EXPECT_NE(uint32_t(meet.imm), uint32_t(p->ops[at[1] - 1].imm)); // other qualifiers, other key
}

TEST(Sync, VotesMatchesReductions) {
  auto p = lower_body("vote.sync.ballot.b32 %r1, !%p1, -1; vote.sync.any.pred %p2, %p1, %r9;"
                      "match.any.sync.b64 %r2, %d1, -1; match.all.sync.b32 %r3|%p3, %r1, -1;"
                      "redux.sync.max.s32 %r4, %r1, -1; elect.sync _|%p4, -1; activemask.b32 %r5; "
                      "bar.warp.sync %r5;"
                      "@%p3 st.global.u32 [%d1], %r4; ret;");
  auto vote = find(*p, OpCode::vote);
  EXPECT_EQ(p->ops[vote.at(0)].imm, 3u);
  EXPECT_TRUE(p->ops[vote[0]].flags & kNegate);
  EXPECT_EQ(p->ops[vote.at(1)].imm, 1u);
  auto match = find(*p, OpCode::match);
  EXPECT_EQ(p->ops[match.at(0)].imm, 2u);
  EXPECT_TRUE(p->ops[match[0] - 1].imm >> 32 & 1);
  EXPECT_EQ(p->ops[match.at(1)].imm, 1u);
  EXPECT_NE(p->ops[match[1]].c, kNoSlot);
  EXPECT_EQ(p->ops[find(*p, OpCode::redux).at(0)].imm, 2u | 1u << 4);
  EXPECT_EQ(p->ops[find(*p, OpCode::elect).at(0)].d, kNoSlot);
  EXPECT_EQ(find(*p, OpCode::meet).size(), 7u);
}

TEST(Sync, Barriers) {
  auto p = lower_body(
      "bar.sync 0; barrier.sync 1, 64; bar.arrive %r1, 96; bar.red.popc.u32 %r2, 2, !%p1;"
      "barrier.cta.red.and.aligned.pred %p2, 3, 128, %p1; barrier.cluster.arrive;"
      "@%p2 st.global.u32 [%d1], %r2; ret;");
  auto bar = find(*p, OpCode::bar);
  ASSERT_EQ(bar.size(), 5u);
  EXPECT_TRUE(p->ops[bar[0]].flags & kAligned);
  EXPECT_EQ(p->ops[bar[0]].b, kNoSlot);
  EXPECT_FALSE(p->ops[bar[1]].flags & kAligned);
  EXPECT_NE(p->ops[bar[1]].b, kNoSlot);
  EXPECT_EQ(p->ops[bar[2]].imm, 1u);
  EXPECT_EQ(p->ops[bar[3]].imm, 2u);
  EXPECT_TRUE(p->ops[bar[3]].flags & kNegate);
  EXPECT_EQ(p->ops[bar[3]].b, kNoSlot);
  EXPECT_EQ(p->ops[bar[4]].imm, 3u);
  EXPECT_TRUE(p->ops[bar[4]].flags & kAligned);
  EXPECT_EQ(find(*p, OpCode::unsupported).size(), 1u);
}

TEST(Sync, Fences) {
  auto p =
      lower_body("fence.acq_rel.gpu; fence.sc.sys; membar.cta; membar.gl; fence.proxy.async; ret;");
  auto f = find(*p, OpCode::fence);
  ASSERT_EQ(f.size(), 4u);
  auto word = [](Semantics s, Scope c) { return uint64_t(s) | uint64_t(c) << 8; };
  EXPECT_EQ(p->ops[f[0]].imm, word(Semantics::acq_rel, Scope::gpu));
  EXPECT_EQ(p->ops[f[1]].imm, word(Semantics::sc, Scope::sys));
  EXPECT_EQ(p->ops[f[2]].imm, word(Semantics::sc, Scope::cta));
  EXPECT_EQ(p->ops[f[3]].imm, word(Semantics::sc, Scope::gpu));
  EXPECT_EQ(p->ops[find(*p, OpCode::fence_proxy).at(0)].imm, 1u);
}

TEST(Sync, SpecialRegisters) {
  uint32_t n = 0;
  EXPECT_EQ(special_from("%envreg12", n), Special::envreg);
  EXPECT_EQ(n, 12u);
  EXPECT_EQ(special_from("%nctaid.y", n), Special::nctaid_y);
  EXPECT_EQ(special_from("%nothing", n), Special::unknown);
  auto p = lower_body(
      "mov.u32 %r1, %clock; mov.u64 %d2, %globaltimer; mov.u32 %r2, %gridid;"
      "st.global.u32 [%d1], %r1; st.global.u64 [%d1], %d2; st.global.u32 [%d1], %r2; ret;");
  EXPECT_EQ(find(*p, OpCode::special).size(), 3u);
  EXPECT_EQ(find(*p, OpCode::low_b32).size(), 1u); // gridid has 64 bits
}

TEST(Sync, UniformBranchesAreProvedFromTheLaunchAlone) {
  auto p = lower_body(
      "ld.param.u32 %r1, [n]; mov.u32 %r2, %ctaid.x; setp.lt.u32 %p1, %r2, %r1; @%p1 bra A;"
      "mov.u32 %r3, %tid.x; setp.lt.u32 %p2, %r3, %r1; @%p2 bra A; mov.u32 %r4, 0;"
      "L: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, %r1; @%p3 bra L; A: st.global.u32 [%d1], %r4; "
      "ret;");
  auto b = find(*p, OpCode::branch);
  ASSERT_EQ(b.size(), 3u);
  EXPECT_TRUE(p->ops[b[0]].flags & kProvedUniform);
  EXPECT_FALSE(p->ops[b[1]].flags & kProvedUniform);
  EXPECT_FALSE(p->ops[b[2]].flags & kProvedUniform); // groups may be at different turns
}

TEST(Sync, ValuesWrittenOnSomePathsAreNotProved) {
  auto p =
      lower_body("mov.u32 %r3, %tid.x; setp.lt.u32 %p2, %r3, 5; @%p2 bra A; ld.param.u32 %r1, [n];"
                 "A: setp.eq.u32 %p1, %r1, 0; @%p1 bra B; st.global.u32 [%d1], %r1; B: "
                 "st.global.u32 [%d1], %r3; ret;");
  auto b = find(*p, OpCode::branch);
  EXPECT_FALSE(p->ops[b.at(1)].flags & kProvedUniform);
}

} // namespace
} // namespace assay::ir
