// Which pair an exploration names: one whose order can make the difference, and the store to whose
// lateness a hang is owed.
#include "../vgpu/job.hpp"

#include "explore/history.hpp"
#include "explore/shapes.hpp"

namespace assay::explore::test {
namespace {

Report explored(const vgpu::JobSpec& job, std::vector<std::string> policies = {}) {
  Options options;
  options.threads = 1;
  options.policies = std::move(policies);
  return explore(job, options);
}

const ir::Op& side(const vgpu::JobSpec& job, const Finding& found, size_t i) {
  return job.launches[found.launch].program->ops[found.places[i].pc];
}

// Warps 0 to 2 add; lane 0 of warp 0 then reads, by `read`.
vgpu::JobSpec adders(const std::string& read) {
  return vgpu::test::job(
      vgpu::test::header(".param .u64 p") +
          ".reg .b64 %rd<2>; .reg .b32 %r<9>; .reg .pred %p<2>; .shared .u32 s[1];\n"
          "ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 31;\n"
          "setp.ne.u32 %p0, %r0, 0; @%p0 bra go; st.shared.u32 [s], 0;\n"
          "go: bar.sync 0; red.shared.add.u32 [s], 1; @%p0 exit;\n" +
          read + "st.global.u32 [%rd0], %r2; exit; }",
      1, 96, {16});
}

TEST(Naming, TheReaderAndNotTwoUpdatesThatCommute) {
  for (const char* read :
       {"atom.shared.add.u32 %r2, [s], 0;\n", "atom.shared.or.b32 %r2, [s], 0;\n",
        "atom.shared.exch.b32 %r2, [s], 5;\n", "ld.volatile.shared.u32 %r2, [s];\n"}) {
    const vgpu::JobSpec job = adders(read);
    const Report report = explored(job);
    EXPECT_FALSE(report.deterministic) << read;
    ASSERT_FALSE(report.findings.empty()) << read;
    for (const Finding& f : report.findings) {
      ASSERT_EQ(f.places.size(), 2u) << read;
      EXPECT_NE(side(job, f, 0).code == ir::OpCode::red, side(job, f, 1).code == ir::OpCode::red)
          << read;
    }
  }
}

TEST(Naming, AtomicsThatOnlyRead) {
  auto only = [](const std::string& operation) {
    const vgpu::JobSpec job = adders(operation);
    const ir::Program& program = *job.launches[0].program;
    for (uint32_t pc = 0; pc < program.ops.size(); ++pc)
      if (program.ops[pc].code == ir::OpCode::atom) return only_reads(program, pc);
    ADD_FAILURE() << operation;
    return false;
  };
  for (const char* reads :
       {"atom.shared.add.u32 %r2, [s], 0;\n", "atom.shared.xor.b32 %r2, [s], 0;\n",
        "atom.shared.and.b32 %r2, [s], -1;\n", "atom.shared.and.b32 %r2, [s], 0xffffffff;\n",
        "atom.shared.cas.b32 %r2, [s], 0, 0;\n", "atom.shared.cas.b32 %r2, [s], %r1, %r1;\n"})
    EXPECT_TRUE(only(reads)) << reads;
  for (const char* writes :
       {"atom.shared.add.u32 %r2, [s], 1;\n", "atom.shared.add.u32 %r2, [s], %r1;\n",
        "atom.shared.and.b32 %r2, [s], 0;\n", "atom.shared.exch.b32 %r2, [s], 0;\n",
        "atom.shared.cas.b32 %r2, [s], 0, 1;\n", "atom.shared.cas.b32 %r2, [s], %r0, %r1;\n"})
    EXPECT_FALSE(only(writes)) << writes;
}

// CTA 1 waits for the flag and then for ever where it does not find the data.
TEST(Naming, TheStoreToWhichAHangIsOwed) {
  const vgpu::JobSpec job = vgpu::test::job(
      vgpu::test::header(".param .u64 p") +
          ".reg .b64 %rd<2>; .reg .b32 %r<9>; .reg .pred %p<4>;\n"
          "ld.param.u64 %rd0, [p]; mov.u32 %r0, %ctaid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra read;\n"
          "st.relaxed.gpu.global.u32 [%rd0], 7; st.relaxed.gpu.global.u32 [%rd0+4], 1; exit;\n"
          "read: ld.relaxed.gpu.global.u32 %r1, [%rd0+4]; setp.eq.u32 %p1, %r1, 0; @%p1 bra read;\n"
          "ld.relaxed.gpu.global.u32 %r2, [%rd0]; setp.ne.u32 %p2, %r2, 0; @%p2 exit;\n"
          "wait: ld.relaxed.gpu.global.u32 %r3, [%rd0+8]; setp.eq.u32 %p3, %r3, 0;\n"
          "@%p3 bra wait; exit; }",
      2, 1, {16});
  const Report report = explored(job, {"canonical"}); // or luck has it first
  const Finding* hang = nullptr;
  for (const Finding& f : report.findings)
    if (f.kind == "hang") hang = &f;
  ASSERT_NE(hang, nullptr);
  const std::optional<Finding> cause = cause_of(job, *hang);
  ASSERT_TRUE(cause);
  ASSERT_EQ(cause->places.size(), 2u);
  EXPECT_TRUE(cause->missed);
  EXPECT_EQ(side(job, *cause, 0).code, ir::OpCode::st);
  EXPECT_EQ(side(job, *cause, 1).code, ir::OpCode::ld);
  EXPECT_EQ(cause->conflict.first.agent.cta, 0u);
  EXPECT_EQ(cause->conflict.second.agent.cta, 1u);
  Finding other = *hang; // of a run that was made for nothing of the kind
  other.traces.front().arms.clear();
  EXPECT_FALSE(cause_of(job, other));
}

} // namespace
} // namespace assay::explore::test
