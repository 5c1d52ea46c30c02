// Values that nothing defines: who uses them is noted, and other runs give them other values.
#include "job.hpp"

namespace assay::vgpu {
namespace {

using test::header;
using test::job;
using test::run_with;

// Stores %r9 (or what `body` stores) at the thread's place.
JobSpec kernel(const std::string& body) {
  return job(header(".param .u64 m") +
                 ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>;"
                 "ld.param.u64 %d1, [m]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;"
                 "add.u64 %d1, %d1, %d2;" +
                 body + "st.global.u32 [%d1], %r9; ret; }",
             1, 64, {256});
}

struct Seen {
  size_t unspecified, by_time;
  bool follows; // the outcome, a variation
  bool proved;
};

Seen look(const JobSpec& job, const char* policy = "canonical") {
  RunOptions options;
  Outcome usual = run_with(job, policy, 1, options);
  EXPECT_TRUE(usual.completed);
  Seen seen{usual.unspecified.size(), usual.time_reads.size(), false, usual.proof.why_not.empty()};
  for (uint8_t variation : {1, 2}) {
    options.vary.open = options.vary.time = variation;
    seen.follows |= run_with(job, policy, 1, options).digest != usual.digest;
  }
  return seen;
}

void expect(const std::string& body, size_t unspecified, size_t by_time, bool follows) {
  Seen seen = look(kernel(body));
  EXPECT_EQ(seen.unspecified, unspecified) << body;
  EXPECT_EQ(seen.by_time, by_time) << body;
  EXPECT_EQ(seen.follows, follows) << body;
  EXPECT_EQ(seen.proved, unspecified + by_time == 0) << body;
}

TEST(OpenValues, RegistersThatWereNeverWritten) {
  expect("add.u32 %r9, %r8, 1;", 1, 0, true);
  expect("and.b32 %r9, %r8, 0;", 1, 0, false);
  expect("cvt.u32.u16 %r9, %h1;", 1, 0, true);
  expect("cvt.u32.u64 %r9, %d9;", 1, 0, true);
  expect("selp.u32 %r9, 1, 0, %p5;", 1, 0, true);
  expect("mov.u32 %r9, 1; @%p5 mov.u32 %r9, 2;", 1, 0, true);
  expect("mov.u32 %r9, 1; @%p5 bra L; mov.u32 %r9, 2; L:", 1, 0, true);
  // By some lanes only, and read by others.
  const std::string some = "setp.lt.u32 %p1, %r1, 40; @%p1 mov.u32 %r8, 3; mov.u32 %r9, 1;";
  expect(some + "@%p1 add.u32 %r9, %r8, 1;", 0, 0, false);
  expect(some + "@!%p1 add.u32 %r9, %r8, 1;", 1, 0, true);
  expect(some + "mov.u32 %r7, %r8; @%p1 add.u32 %r9, %r7, 1;", 0, 0, false);
  expect(some + "@%p1 bra L; mov.u32 %r9, %r8; L:", 1, 0, true);
}

TEST(OpenValues, RegistersOfACalledFunction) {
  JobSpec spec = job(".version 7.8\n.target sm_80\n.address_size 64\n"
                     ".func (.param .b32 out) f(.param .b32 in) { .reg .pred %p; .reg .b32 %a, %b;"
                     " ld.param.b32 %a, [in]; setp.eq.u32 %p, %a, 1; @%p mov.b32 %b, 5;"
                     " st.param.b32 [out], %b; ret; }\n"
                     ".visible .entry k(.param .u64 m) { .reg .b32 %r<9>; .reg .b64 %d<9>;"
                     " ld.param.u64 %d1, [m]; mov.u32 %r1, 0;"
                     " { .param .b32 i; .param .b32 o; st.param.b32 [i], %r1;"
                     " call.uni (o), f, (i); ld.param.b32 %r2, [o]; }"
                     " st.global.u32 [%d1], %r2; ret; }",
                     1, 1, {4});
  Seen seen = look(spec);
  EXPECT_EQ(seen.unspecified, 1u);
  EXPECT_TRUE(seen.follows);
}

TEST(OpenValues, DivisionByZero) {
  for (const char* op : {"div.u32", "div.s32", "rem.u32", "rem.s32"}) {
    expect(std::string(op) + " %r9, 100, %r1;", 1, 0, true); // lane 0 divides by 0
    expect("add.u32 %r2, %r1, 1; " + std::string(op) + " %r9, 100, %r2;", 0, 0, false);
    expect("mov.u32 %r9, 0; setp.ne.u32 %p1, %r1, 0; @%p1 " + std::string(op) + " %r9, 100, %r1;",
           0, 0, false);
    expect("mov.u32 %r9, 0; setp.eq.u32 %p1, %r1, 0; @%p1 " + std::string(op) + " %r9, 100, %r1;",
           1, 0, true);
  }
  for (const char* op : {"div.u16", "div.s16", "rem.u16", "rem.s16"})
    expect("cvt.u16.u32 %h1, %r1; " + std::string(op) + " %h2, 100, %h1; cvt.u32.u16 %r9, %h2;", 1,
           0, true);
  for (const char* op : {"div.u64", "div.s64", "rem.u64", "rem.s64"})
    expect("cvt.u64.u32 %d3, %r1; " + std::string(op) + " %d4, 100, %d3; cvt.u32.u64 %r9, %d4;", 1,
           0, true);
}

// The result may take the divisor's place: 7 divides 14, and no lane divides by 0; then lane 0
// does.
TEST(OpenValues, DivisionIntoTheDivisor) {
  expect("add.u32 %r9, %r1, 7; rem.u32 %r9, 14, %r9;", 0, 0, false);
  expect("add.u32 %r9, %r1, 7; div.s32 %r9, 6, %r9;", 0, 0, false);
  expect("mov.u32 %r9, %r1; div.u32 %r9, 100, %r9;", 1, 0, true);
  expect("cvt.u64.u32 %d3, %r1; add.u64 %d3, %d3, 7; rem.u64 %d3, 14, %d3; cvt.u32.u64 %r9, %d3;",
         0, 0, false);
  expect("cvt.u16.u32 %h1, %r1; rem.u16 %h1, 100, %h1; cvt.u32.u16 %r9, %h1;", 1, 0, true);
  expect("and.b32 %r9, %r1, 31; fns.b32 %r9, 0, %r9, 1;", 0, 0, false);
}

TEST(OpenValues, FindNthSetFromABaseThatIsNoBit) {
  expect("fns.b32 %r9, 0xff, %r1, 1;", 1, 0, true); // lanes of the second warp
  expect("and.b32 %r2, %r1, 31; fns.b32 %r9, 0xff, %r2, 1;", 0, 0, false);
}

TEST(OpenValues, ShuffleFromLanesThatTakeNoPart) {
  // Lanes above 15 have exited; then lanes read beyond their own mask.
  expect("and.b32 %r2, %r1, 31; setp.gt.u32 %p1, %r2, 15; @%p1 exit;"
         "shfl.sync.idx.b32 %r9, %r1, 20, 31, -1;",
         1, 0, true);
  expect("and.b32 %r2, %r1, 31; setp.gt.u32 %p1, %r2, 15; @%p1 exit;"
         "shfl.sync.idx.b32 %r9, %r1, 3, 31, -1;",
         0, 0, false);
  const std::string halves = "and.b32 %r2, %r1, 16; mov.u32 %r3, 0xffff; shl.b32 %r3, %r3, %r2;";
  expect(halves + "shfl.sync.idx.b32 %r9, %r1, %r2, 31, %r3;", 0, 0, false);
  expect(halves + "shfl.sync.idx.b32 %r9, %r1, 0, 31, %r3;", 1, 0, true);
}

TEST(OpenValues, WhatMachineAndDriverDecide) {
  for (const char* name : {"%nsmid", "%nwarpid", "%envreg0", "%envreg31", "%total_smem_size"})
    expect("mov.u32 %r9, " + std::string(name) + ";", 1, 0, true);
  expect("mov.u64 %d3, %gridid; cvt.u32.u64 %r9, %d3;", 1, 0, true);
}

TEST(OpenValues, WhatTimeAndPlacementDecide) {
  for (const char* name : {"%clock", "%clock_hi", "%globaltimer_lo", "%smid", "%warpid", "%pm0"})
    expect("mov.u32 %r9, " + std::string(name) + ";", 0, 1, true);
  for (const char* name : {"%clock64", "%globaltimer"})
    expect("mov.u64 %d3, " + std::string(name) + "; cvt.u32.u64 %r9, %d3;", 0, 1, true);
  expect("mov.u32 %r2, %clock; L: mov.u32 %r3, %clock; sub.u32 %r3, %r3, %r2;"
         "setp.lt.u32 %p1, %r3, 3000; @%p1 bra L; mov.u32 %r9, 1;",
         0, 2, false);
}

// In 32 bits as well, where that is not a multiple of their range.
TEST(OpenValues, AnyLimitOfTimeHasPassed) {
  for (const char* clock : {"mov.u32 %r2, %clock; mov.u32 %r3, %clock; sub.u32 %r3, %r3, %r2;"
                            "setp.gt.s32 %p1, %r3, 500000000;",
                            "mov.u64 %d3, %clock64; mov.u64 %d4, %clock64; sub.u64 %d4, %d4, %d3;"
                            "setp.gt.s64 %p1, %d4, 1000000000000;"}) {
    const JobSpec spec = kernel(std::string(clock) + "selp.u32 %r9, 1, 0, %p1;");
    RunOptions options;
    for (int variation = 1; variation < 4; ++variation) {
      options.vary.time = uint8_t(variation);
      EXPECT_EQ(run_with(spec, "canonical", 1, options).digest !=
                    run_with(spec, "canonical", 1).digest,
                variation == 3)
          << clock;
    }
  }
}

// One operation alone may vary: the second clock is only a time-out.
TEST(OpenValues, OneOperationAlone) {
  JobSpec spec = kernel("mov.u32 %r9, %clock; mov.u32 %r3, %clock; and.b32 %r3, %r3, 0;"
                        "add.u32 %r9, %r9, %r3;");
  Outcome usual = run_with(spec, "canonical", 1);
  ASSERT_EQ(usual.time_reads.size(), 2u);
  RunOptions options;
  options.vary.time = 1;
  for (int i = 0; i < 2; ++i) {
    options.vary.pc = usual.time_reads[size_t(i)].places[0].pc;
    EXPECT_EQ(run_with(spec, "canonical", 1, options).digest == usual.digest, i == 1);
  }
}

} // namespace
} // namespace assay::vgpu
