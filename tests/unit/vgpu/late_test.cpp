// Strong writes that take effect late (vgpu/late.hpp): as late as causality order lets them, and
// all of them in the end.
#include "job.hpp"

namespace assay::vgpu::test {
namespace {

// CTA 0 updates b0[0] and raises a flag at b0[1]; CTA 1 waits for that and copies b0[0] to b0[2].
JobSpec handover(const char* update, const char* release, const char* acquire) {
  return job(header(".param .u64 p") +
                 ".reg .b64 %rd<2>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
                 "ld.param.u64 %rd0, [p]; mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 0;\n"
                 "@%p0 bra read;\n" +
                 update + release +
                 "st.relaxed.gpu.global.u32 [%rd0+4], 1; exit;\n"
                 "read: ld.relaxed.gpu.global.u32 %r1, [%rd0+4];\n"
                 "setp.eq.u32 %p1, %r1, 0; @%p1 bra read;\n" +
                 acquire +
                 "ld.relaxed.gpu.global.u32 %r2, [%rd0];\n"
                 "st.global.u32 [%rd0+8], %r2; exit; }",
             2, 1, {16});
}

constexpr const char* kUpdate = "red.relaxed.gpu.global.add.u32 [%rd0], 7;\n";
constexpr const char* kFence = "fence.acq_rel.gpu;\n";

uint32_t place_of(const ir::Program& program, ir::OpCode code, ir::Semantics semantics) {
  uint32_t found = ir::kNoIndex;
  for (uint32_t pc = 0; pc < program.ops.size(); ++pc)
    if (program.ops[pc].code == code && program.mem[program.ops[pc].c].semantics == semantics)
      found = pc;
  return found;
}

// One run in which what CTA 0 does at `pc` is late.
Outcome run_late(const JobSpec& job, uint32_t pc) {
  RunOptions options;
  Arm arm;
  arm.first.info.pc = pc;
  arm.first.time = kAnyTime;
  arm.second.agent.cta = 1;
  arm.second.info.pc = place_of(*job.launches[0].program, ir::OpCode::ld, ir::Semantics::relaxed);
  arm.late = true;
  options.arms = {arm};
  return run_with(job, "canonical", 1, options);
}

Outcome run_late_update(const JobSpec& job) {
  return run_late(job, place_of(*job.launches[0].program, ir::OpCode::red, ir::Semantics::relaxed));
}

TEST(LateWrites, WhoDoesNotFollowComesBefore) {
  const JobSpec job = handover(kUpdate, "", "");
  const Outcome usual = run_with(job, "canonical", 1), late = run_late_update(job);
  ASSERT_TRUE(usual.completed);
  ASSERT_TRUE(late.completed);
  EXPECT_EQ(word(usual, 0, 2), 7u);
  EXPECT_EQ(word(late, 0, 2), 0u);
  EXPECT_EQ(word(late, 0, 0), 7u); // nothing is lost
  ASSERT_EQ(late.missed_reads.size(), 1u);
  const race::Conflict& pair = late.missed_reads[0].pair;
  EXPECT_TRUE(pair.first.info.atomic);
  EXPECT_EQ(pair.first.agent.cta, 0u);
  EXPECT_FALSE(pair.second.info.write);
  EXPECT_EQ(pair.second.agent.cta, 1u);
}

TEST(LateWrites, OneFenceIsNotEnough) {
  EXPECT_EQ(word(run_late_update(handover(kUpdate, kFence, "")), 0, 2), 0u);
  EXPECT_EQ(word(run_late_update(handover(kUpdate, "", kFence)), 0, 2), 0u);
}

TEST(LateWrites, WhoFollowsFindsTheEffect) {
  const Outcome late = run_late_update(handover(kUpdate, kFence, kFence));
  EXPECT_EQ(word(late, 0, 2), 7u);
  EXPECT_TRUE(late.missed_reads.empty());
}

// What a thread does later to the same place comes behind it, and finds it.
TEST(LateWrites, TheOwnThreadKeepsItsOrder) {
  const std::string two = std::string(kUpdate) +
                          "red.relaxed.gpu.global.add.u32 [%rd0], 8;\n"
                          "ld.relaxed.gpu.global.u32 %r3, [%rd0]; st.global.u32 [%rd0+12], %r3;\n";
  const JobSpec job = handover(two.c_str(), "", "");
  uint32_t first = 0;
  while (job.launches[0].program->ops[first].code != ir::OpCode::red) ++first;
  const Outcome late = run_late(job, first);
  ASSERT_TRUE(late.completed);
  EXPECT_EQ(word(late, 0, 3), 15u);
  EXPECT_EQ(word(late, 0, 0), 15u);
}

// An update whose result somebody uses is never late.
TEST(LateWrites, ResultsInUse) {
  const JobSpec job = handover("atom.relaxed.gpu.global.add.u32 %r4, [%rd0], 7;\n"
                               "st.global.u32 [%rd0+12], %r4;\n",
                               "", "");
  const Outcome late =
      run_late(job, place_of(*job.launches[0].program, ir::OpCode::atom, ir::Semantics::relaxed));
  EXPECT_EQ(word(late, 0, 2), 7u);
}

// The policy's choice is in the trace: a replay repeats it, and some seed makes the difference.
TEST(LateWrites, PolicyFindsAndRepeats) {
  const JobSpec job = handover(kUpdate, "", "");
  bool differs = false;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    const Outcome one = run_with(job, "late-writes", seed),
                  two = run_with(job, "late-writes", seed);
    EXPECT_EQ(one.digest, two.digest);
    differs |= word(one, 0, 2) == 0;
    EXPECT_EQ(word(one, 0, 0), 7u);
  }
  EXPECT_TRUE(differs);
}

} // namespace
} // namespace assay::vgpu::test
