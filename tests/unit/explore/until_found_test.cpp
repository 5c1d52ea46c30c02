// Options::until_found: the end comes early where a finding stands, and only there.
#include "../vgpu/job.hpp"

#include "explore/explore.hpp"

namespace assay::explore::test {
namespace {

// Lane 0 of two warps, warp 1 at `write`.
vgpu::JobSpec two_warps(const std::string& body) {
  return vgpu::test::job(vgpu::test::header(".param .u64 p") +
                             ".reg .b64 %rd<2>; .reg .b32 %r<9>; .reg .pred %p<2>;\n"
                             ".shared .u32 s[4];\n"
                             "ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31;\n"
                             "setp.ne.u32 %p0, %r1, 0; @%p0 exit; setp.ne.u32 %p1, %r0, 0;\n"
                             "@%p1 bra write;\n" +
                             body + "exit; }",
                         1, 64, {64});
}

Report explored(const vgpu::JobSpec& job, bool until_found) {
  Options options;
  options.until_found = until_found;
  options.threads = 1;
  return explore(job, options);
}

// Both orders leave the same bytes, which takes all runs to know.
TEST(UntilFound, RaceWithoutConsequence) {
  const vgpu::JobSpec job = two_warps("st.shared.u32 [s], 4; ld.shared.u32 %r3, [s];\n"
                                      "and.b32 %r3, %r3, 0; st.global.u32 [%rd0], %r3; exit;\n"
                                      "write: st.shared.u32 [s], 5;");
  const Report whole = explored(job, false), quick = explored(job, true);
  EXPECT_FALSE(quick.cut_short);
  EXPECT_EQ(quick.schedules, whole.schedules);
  ASSERT_FALSE(quick.findings.empty());
  for (const Finding& f : quick.findings) EXPECT_EQ(f.kind, "race-without-consequence");
}

TEST(UntilFound, RaceThatMakesADifference) {
  const vgpu::JobSpec job = two_warps("st.shared.u32 [s], 4; ld.shared.u32 %r3, [s];\n"
                                      "st.global.u32 [%rd0], %r3; exit;\n"
                                      "write: st.shared.u32 [s], 5;");
  const Report whole = explored(job, false), quick = explored(job, true);
  EXPECT_TRUE(quick.cut_short);
  EXPECT_FALSE(whole.cut_short);
  EXPECT_LT(quick.schedules, whole.schedules);
  ASSERT_FALSE(quick.findings.empty());
  EXPECT_EQ(quick.findings[0].kind, "race");
}

// No order of whole accesses makes a race of a strong and a weak one harmless: one run is enough.
TEST(UntilFound, RaceOfAStrongAndAWeakAccess) {
  const Report quick = explored(two_warps("st.shared.u32 [s], 4; ld.shared.u32 %r3, [s];\n"
                                          "and.b32 %r3, %r3, 0; st.global.u32 [%rd0], %r3; exit;\n"
                                          "write: st.relaxed.cta.shared.u32 [s], 5;"),
                                true);
  EXPECT_TRUE(quick.cut_short);
  EXPECT_EQ(quick.schedules, 1u);
}

// Orders that differ without a race are not looked at: rounding may be all that differs.
TEST(UntilFound, OrderConflict) {
  const vgpu::JobSpec job = two_warps("atom.shared.exch.b32 %r3, [s], 4;\n"
                                      "st.global.u32 [%rd0], %r3; exit;\n"
                                      "write: atom.shared.exch.b32 %r4, [s], 5;\n"
                                      "st.global.u32 [%rd0+4], %r4;");
  const Report whole = explored(job, false), quick = explored(job, true);
  EXPECT_FALSE(quick.cut_short);
  ASSERT_FALSE(quick.findings.empty());
  EXPECT_EQ(quick.findings[0].kind, whole.findings[0].kind);
}

// A first run that leaves other bytes than are expected is enough; the expected ones say nothing.
TEST(UntilFound, OtherBytesThanExpected) {
  const vgpu::JobSpec job =
      two_warps("st.global.u32 [%rd0], 4; exit; write: st.global.u32 [%rd0+4], 5;");
  Options options;
  options.until_found = true;
  options.threads = 1;
  Digest expected = explored(job, false).first.digest;
  options.expected = &expected;
  const Report same = explore(job, options);
  EXPECT_FALSE(same.cut_short);
  EXPECT_TRUE(same.proved);
  const Digest other = explored(two_warps("exit; write: exit;"), false).first.digest;
  options.expected = &other;
  const Report differs = explore(job, options);
  EXPECT_TRUE(differs.cut_short);
  EXPECT_EQ(differs.schedules, 1u);
  options.until_found = false; // otherwise nothing is expected
  EXPECT_FALSE(explore(job, options).cut_short);
}

} // namespace
} // namespace assay::explore::test
