// Lanes of one warp in different activations, functions and paths at once, under every policy.
#include "job.hpp"

namespace assay::vgpu {
namespace {

using namespace test;

void expect_words(const JobSpec& job, const std::vector<uint32_t>& want) {
  for (const std::string& policy : schedule::policy_names()) {
    Outcome o = run_with(job, policy, 1);
    ASSERT_TRUE(o.completed) << policy << ": " << (o.events.empty() ? "" : o.events[0].message);
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_EQ(word(o, 0, i), want[i]) << policy << " lane " << i;
  }
}

const std::string kStart = ".version 8.3\n.target sm_90\n.address_size 64\n";
constexpr const char* kKernel =
    ".visible .entry k(.param .u64 a) {\n.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;\n"
    "ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, "
    "%d2;\n";

// Calls `function` (a name, or a register with prototype P) with `argument`; the result is
// `result`.
std::string call(const std::string& function, const std::string& argument,
                 const std::string& result) {
  bool indirect = function[0] == '%';
  return "{ .param .b32 p0; .param .b32 q; st.param.b32 [p0], " + argument + ";\n" +
         (indirect ? "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n" : "") + "call (q), " +
         function + ", (p0)" + (indirect ? ", P" : "") + "; ld.param.b32 " + result + ", [q]; }\n";
}

// The start of a function of one word that gives one.
std::string function(const std::string& name) {
  return ".func (.param .b32 out) " + name +
         "(.param .b32 x) {\n.reg .b16 %h<2>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<2>;"
         " .reg .pred %p<3>;\nld.param.u32 %r1, [x]; ";
}

TEST(Calls, RecursionToDifferentDepths) {
  std::string text = kStart + function("fib") + "setp.lt.u32 %p1, %r1, 2; @%p1 bra END;\n" +
                     "add.s32 %r2, %r1, -1; " + call("fib", "%r2", "%r3") +
                     "add.s32 %r4, %r1, -2; " + call("fib", "%r4", "%r5") +
                     "add.s32 %r1, %r3, %r5;\nEND: st.param.b32 [out], %r1; ret; }\n" + kKernel +
                     "rem.u32 %r2, %r1, 11; " + call("fib", "%r2", "%r3") +
                     "st.global.u32 [%d3], %r3; ret; }\n";
  std::vector<uint32_t> want, fib = {0, 1};
  for (size_t i = 2; i < 11; ++i) fib.push_back(fib[i - 1] + fib[i - 2]);
  for (size_t i = 0; i < 32; ++i) want.push_back(fib[i % 11]);
  expect_words(job(text, 1, 32, {128}), want);
}

// The functions use their slots differently; lanes of both are under way at once.
TEST(Calls, LanesInDifferentFunctions) {
  const std::string turn = "add.u32 %r3, %r3, 1; atom.global.add.u32 %r4, [c], 1;"
                           " setp.lt.u32 %p1, %r3, 5; @%p1 bra L;\n";
  std::string text =
      kStart + ".global .u32 c;\n.func (.param .b32 out) f(.param .b32 x);\n" +
      ".func (.param .b32 out) g(.param .b32 x);\n.global .u64 table[2] = {f, g};\n" +
      function("f") + "mov.u32 %r2, 0; mov.u32 %r3, 0;\nL: add.u32 %r2, %r2, %r1; " + turn +
      "st.param.b32 [out], %r2; ret; }\n" + function("g") +
      "cvt.u64.u32 %d1, %r1; mov.u64 %d2, 0; mov.u32 %r3, 0;\nL: mad.lo.u64 %d2, %d1, 7, %d2; " +
      turn + "cvt.u32.u64 %r2, %d2; st.param.b32 [out], %r2; ret; }\n" + kKernel +
      "and.b32 %r2, %r1, 1; mul.wide.u32 %d4, %r2, 8; mov.u64 %d5, table; add.s64 %d5, %d5, %d4;\n"
      "ld.global.u64 %d6, [%d5]; " +
      call("%d6", "%r1", "%r3") + "st.global.u32 [%d3], %r3; ret; }\n";
  std::vector<uint32_t> want;
  for (uint32_t i = 0; i < 32; ++i) want.push_back(i % 2 ? i * 35 : i * 5);
  expect_words(job(text, 1, 32, {128}), want);
}

// Half a warp enters a function in which the other half waits: registers that are written under a
// guard only, and so zeroed at the entry, are of all widths, and the other half's keep their
// values.
TEST(Calls, EntryLeavesTheValuesOfLanesInside) {
  std::string text =
      kStart + function("f") + "setp.ne.u32 %p1, %r1, 0; mov.u32 %r2, 0; mov.u64 %d5, 1;\n" +
      "@%p1 cvt.u64.u32 %d1, %r1; @%p1 add.u32 %r3, %r1, 100; @%p1 mov.b128 %q1, {%d1, %d5};\n"
      "bar.warp.sync 0xffffffff;\n"
      "@%p1 cvt.u32.u64 %r2, %d1; @%p1 mov.b128 {%d3, %d4}, %q1; @%p1 add.u32 %r2, %r2, %r3;\n"
      "@%p1 cvt.u32.u64 %r4, %d3; @%p1 add.u32 %r2, %r2, %r4; st.param.b32 [out], %r2; ret; }\n" +
      kKernel + "add.u32 %r2, %r1, 1; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;\n" +
      call("f", "%r2", "%r3") + "bra DONE;\nLOW: " + call("f", "%r2", "%r3") +
      "DONE: st.global.u32 [%d3], %r3; ret; }\n";
  std::vector<uint32_t> want;
  for (uint32_t i = 0; i < 32; ++i) want.push_back(3 * (i + 1) + 100);
  expect_words(job(text, 1, 32, {128}), want);
}

// A lane that leaves early computes 64-bit values where 32-bit ones of the others are still alive.
TEST(Calls, PathsOfDifferentWidths) {
  std::string text =
      kStart + kKernel +
      "mov.u32 %r2, 0; mov.u32 %r3, 100;"
      "L: setp.ge.u32 %p1, %r2, %r1; @%p1 bra OUT; add.u32 %r3, %r3, %r2; add.u32 %r2, %r2, 1; bra "
      "L;\n"
      "OUT: setp.gt.u32 %p2, %r1, 15; @%p2 bra WIDE;\n"
      "st.global.u32 [%d3], %r3; ret;\n"
      "WIDE: cvt.u64.u32 %d4, %r3; mul.lo.u64 %d5, %d4, 3; cvt.u32.u64 %r4, %d5;"
      "st.global.u32 [%d3], %r4; ret; }\n";
  std::vector<uint32_t> want;
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t sum = 100 + i * (i - 1) / 2;
    want.push_back(i > 15 ? 3 * sum : sum);
  }
  want[0] = 100;
  expect_words(job(text, 1, 32, {128}), want);
}

} // namespace
} // namespace assay::vgpu
