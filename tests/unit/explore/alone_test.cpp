// Pairs within one CTA, run alone: the same report as when the whole launch is run.
#include "../vgpu/job.hpp"

#include "explore/explore.hpp"

namespace assay::explore::test {
namespace {

Report explored(const vgpu::JobSpec& job, bool alone) {
  Options options;
  options.alone = alone;
  options.threads = 1;
  options.policies = {"canonical"}; // or another one shows first what alone is in doubt
  return explore(job, options);
}

// Two warps of each CTA; warp 1 waits for nothing. %r1: warp, %rd1: the CTA's word of b0.
std::string kernel(const std::string& body) {
  return vgpu::test::header(".param .u64 p") +
         ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<4>; .shared .u32 s[4];\n"
         "ld.param.u64 %rd0, [p]; mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5; mov.u32 %r2, "
         "%ctaid.x;\n"
         "mul.wide.u32 %rd1, %r2, 4; add.u64 %rd1, %rd0, %rd1; mov.u32 %r7, %tid.x; and.b32 %r7, "
         "%r7, 31;\n"
         "setp.ne.u32 %p0, %r7, 0; @%p0 exit; setp.ne.u32 %p1, %r1, 0;\n" +
         body + "exit; }";
}

void expect_same(const vgpu::JobSpec& job, const char* kind) {
  const Report with = explored(job, true), without = explored(job, false);
  EXPECT_EQ(with.deterministic, without.deterministic);
  EXPECT_EQ(with.race_free, without.race_free);
  EXPECT_EQ(with.schedules, without.schedules);
  ASSERT_EQ(with.findings.size(), without.findings.size());
  ASSERT_FALSE(with.findings.empty());
  EXPECT_EQ(with.findings[0].kind, kind);
  for (size_t i = 0; i < with.findings.size(); ++i) {
    EXPECT_EQ(with.findings[i].kind, without.findings[i].kind);
    EXPECT_EQ(with.findings[i].both_orders, without.findings[i].both_orders);
    ASSERT_EQ(with.findings[i].traces.size(), without.findings[i].traces.size());
    for (size_t k = 0; k < with.findings[i].traces.size(); ++k)
      EXPECT_EQ(with.findings[i].traces[k].text(), without.findings[i].traces[k].text());
  }
}

TEST(Alone, BytesThatDoNotDiffer) {
  expect_same(vgpu::test::job(kernel("@%p1 bra write;\n"
                                     "st.shared.u32 [s], 4;\n"
                                     "ld.shared.u32 %r3, [s]; and.b32 %r3, %r3, 0;\n"
                                     "st.global.u32 [%rd1], %r3; exit;\n"
                                     "write: st.shared.u32 [s], 5;"),
                              3, 64, {64}),
              "race-without-consequence");
}
// What nobody has written may swallow everything, as a NaN does: the same bytes say nothing.
TEST(Alone, UnwrittenBytesThatDoNotDiffer) {
  expect_same(vgpu::test::job(kernel("@%p1 bra write;\n"
                                     "ld.shared.u32 %r3, [s]; and.b32 %r3, %r3, 0;\n"
                                     "st.global.u32 [%rd1], %r3; exit;\n"
                                     "write: st.shared.u32 [s], 5;"),
                              3, 64, {64}),
              "race");
}
TEST(Alone, BytesThatDo) {
  expect_same(vgpu::test::job(kernel("@%p1 bra write;\n"
                                     "ld.shared.u32 %r3, [s]; setp.eq.u32 %p2, %r3, 5; "
                                     "selp.u32 %r4, 1, 2, %p2;\n"
                                     "st.global.u32 [%rd1], %r4; exit;\n"
                                     "write: st.shared.u32 [s], 5;"),
                              3, 64, {64}),
              "race");
}
// Behind the race the other order stores zero, which the word holds already, where CTA 0 stores
// one: only among the others does that make a difference.
TEST(Alone, ATurnedOrderThatTouchesWhatIsOthers) {
  expect_same(
      vgpu::test::job(kernel("@%p1 bra write;\n"
                             "ld.shared.u32 %r3, [s]; setp.ne.u32 %p2, %r3, 5;\n"
                             "setp.eq.u32 %p3, %r2, 0; @%p3 st.global.u32 [%rd1], 1; @%p3 exit;\n"
                             "@%p2 exit; st.global.u32 [%rd0], 0; exit;\n"
                             "write: st.shared.u32 [s], 5;"),
                      3, 64, {64}),
      "race");
}
TEST(Alone, OneCtaOfALaunch) {
  vgpu::JobSpec job = vgpu::test::job(kernel("st.global.u32 [%rd1], %r2;"), 3, 64, {64});
  vgpu::RunOptions options;
  options.only_cta = 2;
  const vgpu::Outcome out = vgpu::test::run_with(job, "canonical", 1, options);
  EXPECT_EQ(vgpu::test::word(out, 0, 1), 0u);
  EXPECT_EQ(vgpu::test::word(out, 0, 2), 2u);
  ASSERT_TRUE(out.touched);
  options.only_cta = 1;
  const vgpu::Outcome other = vgpu::test::run_with(job, "canonical", 1, options);
  EXPECT_TRUE(out.touched->within(*out.touched));
  EXPECT_FALSE(out.touched->within(*other.touched));
}

} // namespace
} // namespace assay::explore::test
