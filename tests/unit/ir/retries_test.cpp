// Which waits for an mbarrier are found to do nothing but ask again (retries.cpp).
#include "lowering.hpp"

namespace assay::ir {
namespace {

// For each wait of the kernel, then for each clock that it reads: is it marked?
std::string marks(const std::string& body) {
  auto program = lower_body("ld.param.u32 %r1, [n]; ld.param.u64 %d1, [a];\n" + body + "ret;");
  std::string waits, clocks;
  for (const Op& op : program->ops) {
    if (op.code == OpCode::mbarrier_wait) waits += op.flags & kRetried ? 'r' : '-';
    if (op.code == OpCode::special) clocks += op.flags & kRetried ? 'r' : '-';
  }
  return waits + " " + clocks;
}

const std::string kAsk = "mbarrier.test_wait.shared.b64 %p1, [%r1], %d1;\n";

} // namespace

TEST(Retries, LoopsThatOnlyAskAgain) {
  EXPECT_EQ(marks("W: " + kAsk + "@!%p1 bra W;\n"), "r ");
  // As integers, with a first question before the loop, a pause, and clocks.
  EXPECT_EQ(marks("mov.u64 %d2, %globaltimer;\n" + kAsk +
                  "selp.u32 %r2, 1, 0, %p1; setp.ne.s32 %p2, %r2, 0; @%p2 bra D;\nmov.u32 %r3, 0;\n"
                  "L: mov.u64 %d3, %globaltimer; sub.s64 %d3, %d3, %d2; setp.gt.s64 %p3, %d3, 9;\n"
                  "@%p3 bra N; add.u32 %r3, %r3, 1; bra A;\nN: nanosleep.u32 %r3;\nA: " +
                  kAsk + "selp.u32 %r4, 1, 0, %p1; setp.eq.s32 %p2, %r4, 0; @%p2 bra L;\nD:\n"),
            "rr rr");
}

TEST(Retries, WhatTheyAskForIsComputedInTheLoop) {
  const std::string ask = "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], %r3;\n";
  EXPECT_EQ(marks("mov.u32 %r2, %tid.x;\nW: xor.b32 %r3, %r2, 1;\n" + ask + "@!%p1 bra W;\n"),
            "r ");
  // Another phase each time; the first time another than afterwards.
  EXPECT_EQ(marks("mov.u32 %r2, 0;\nW: xor.b32 %r2, %r2, 1; and.b32 %r3, %r2, 1;\n" + ask +
                  "@!%p1 bra W;\n"),
            "- ");
  EXPECT_EQ(marks("mov.u32 %r2, 0; mov.u32 %r3, 0; bra A;\nW: xor.b32 %r3, %r2, 1;\nA: " + ask +
                  "@!%p1 bra W;\n"),
            "- ");
}

TEST(Retries, LoopsThatDoMore) {
  // The number of questions is stored afterwards.
  EXPECT_EQ(marks("mov.u32 %r3, 0;\nW: " + kAsk +
                  "@%p1 bra D; add.u32 %r3, %r3, 1; bra W;\nD: st.shared.u32 [%r1], %r3;\n"),
            "- ");
  // It gives up.
  EXPECT_EQ(marks("mov.u32 %r3, 0;\nW: " + kAsk +
                  "@%p1 bra D; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra W;\nD:\n"),
            "- ");
  // It works meanwhile.
  EXPECT_EQ(marks("W: " + kAsk + "@%p1 bra D; st.shared.u32 [%r1], 0; bra W;\nD:\n"), "- ");
  // It asks for something else.
  EXPECT_EQ(marks("W: " + kAsk + "@%p1 bra D; add.u32 %r1, %r1, 8; bra W;\nD:\n"), "- ");
  // The answer is kept.
  EXPECT_EQ(marks(kAsk + "selp.u32 %r2, 1, 0, %p1; st.shared.u32 [%r1], %r2;\n"), "- ");
  // A clock that others read too.
  EXPECT_EQ(marks("mov.u64 %d2, %globaltimer;\nW: " + kAsk +
                  "@%p1 bra D; mov.u64 %d3, %globaltimer; sub.s64 %d3, %d3, %d2; bra W;\n"
                  "D: st.shared.u64 [%r1], %d2;\n"),
            "r -r");
}

} // namespace assay::ir
