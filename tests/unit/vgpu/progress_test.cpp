// Forward progress and replay: kernels that need fair scheduling inside a warp and between CTAs run
// right under every policy, and every run's trace replays to the same digest.
#include "job.hpp"

#include "schedule/trace.hpp"

namespace assay::vgpu::test {
namespace {

// A kernel whose parameters are a lock or flag, %rd1, and a counter or cells, %rd2.
JobSpec sharing(const std::string& body, uint32_t grid, uint32_t block, uint64_t cells) {
  return job(header(".param .u64 l, .param .u64 c") +
                 ".reg .pred %p<4>; .reg .b32 %r<6>; .reg .b64 %rd<5>;\n"
                 "ld.param.u64 %rd1, [l]; ld.param.u64 %rd2, [c];\n" +
                 body,
             grid, block, {4, cells});
}

Outcome run_within(uint64_t budget, const JobSpec& job, const std::string& policy,
                   uint64_t seed = 1) {
  RunOptions options;
  options.step_budget = budget;
  return run_with(job, policy, seed, options);
}

// Every lane of every CTA takes a lock, increments b1[0] by plain load and store, and unlocks.
const char* kSpinLock = R"(
LOOP:
  atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra LOOP;
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd2], %r2;
  atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;
  ret;
}
)";

// Lane 0 of a warp waits for a flag that lane 1 sets; both branches of one if.
const char* kProducerConsumer = R"(
  mov.u32 %r1, %tid.x;
  and.b32 %r1, %r1, 1;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra PRODUCE;
WAIT:
  ld.acquire.gpu.global.u32 %r2, [%rd1];
  setp.lt.u32 %p2, %r2, 16;
  @%p2 bra WAIT;
  ld.global.u32 %r3, [%rd2+4];
  st.global.u32 [%rd2], %r3;
  bra DONE;
PRODUCE:
  mov.u32 %r4, 77;
  st.global.u32 [%rd2+4], %r4;
  red.release.gpu.global.add.u32 [%rd1], 1;
DONE:
  ret;
}
)";

// Lane i leaves the loop after i turns; the counter is uniform while lanes are together.
const char* kStaggered = R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  mov.u32 %r3, 100;
LOOP:
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra OUT;
  add.u32 %r2, %r2, 1;
  add.u32 %r3, %r3, 2;
  bra LOOP;
OUT:
  add.u32 %r3, %r3, %r2;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r3;
  ret;
}
)";

struct Case {
  const char* body;
  uint32_t grid, block;
  std::vector<uint32_t> want;
};

std::vector<Case> cases() {
  Case staggered{kStaggered, 1, 64, {}};
  for (uint32_t i = 0; i < 64; ++i) staggered.want.push_back(100 + 3 * i);
  return {{kSpinLock, 2, 8, {2 * 8}}, {kProducerConsumer, 1, 32, {77, 77}}, staggered};
}

TEST(Progress, RightUnderEveryPolicyAndEveryTraceReplays) {
  for (const Case& c : cases()) {
    JobSpec j = sharing(c.body, c.grid, c.block, 256);
    for (const std::string& policy : schedule::policy_names())
      for (uint64_t seed = 1; seed <= 2; ++seed) {
        Outcome o = run_within(50000000, j, policy, seed);
        ASSERT_TRUE(o.completed) << policy << ' ' << seed << ": " << kind_name(o.events[0].kind)
                                 << ' ' << o.events[0].message;
        for (size_t i = 0; i < c.want.size(); ++i)
          ASSERT_EQ(word(o, 1, i), c.want[i]) << policy << ' ' << i;
        for (const auto& l : o.conflicts)
          for (const auto& conflict : l.conflicts)
            EXPECT_NE(conflict.kind, race::Conflict::Kind::race) << policy;
        auto replay = schedule::make_replay(o.trace);
        Outcome again = run(j, *replay, {});
        ASSERT_TRUE(again.completed) << policy;
        EXPECT_EQ(again.digest, o.digest);
        EXPECT_EQ(again.scheduling_points, o.scheduling_points);
        EXPECT_EQ(again.thread_instructions, o.thread_instructions);
      }
  }
}

// One lane of every warp takes a lock that all warps of a launch want.
const char* kLockOfWarps = R"(
  mov.u32 %r1, %tid.x;
  and.b32 %r1, %r1, 31;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 ret;
LOOP:
  atom.acquire.gpu.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra LOOP;
  ld.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd2], %r2;
  atom.release.gpu.global.exch.b32 %r3, [%rd1], 0;
  ret;
}
)";

// Warps that poll in vain are passed over: what a lock costs grows with its owners, not with their
// square (256 warps would make 65,536 turns).
TEST(Progress, WhoPollsInVainIsPassedOver) {
  JobSpec j = sharing(kLockOfWarps, 16, 512, 4);
  for (const std::string& policy : schedule::policy_names()) {
    Outcome o = run_with(j, policy, 1);
    ASSERT_TRUE(o.completed) << policy;
    EXPECT_EQ(word(o, 1, 0), 256u) << policy;
    EXPECT_LT(o.scheduling_points, 256u * 32) << policy;
  }
}

// Warp 0 polls a flag that nobody sets and looks at another one by a plain load; warp 1 makes
// progress until warp 0 is done. However futile the polling looks, warp 0 comes back.
const char* kPollsTwoFlags = R"(
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 64;
  @%p1 bra SET;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra WORK;
WAIT:
  ld.relaxed.gpu.global.u32 %r2, [%rd1];
  ld.global.u32 %r3, [%rd2+4];
  or.b32 %r2, %r2, %r3;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
  mov.u32 %r4, 1;
  st.relaxed.gpu.global.u32 [%rd2], %r4;
  ret;
WORK:
  st.relaxed.gpu.global.u32 [%rd2+8], %r5;
  add.u32 %r5, %r5, 1;
  ld.relaxed.gpu.global.u32 %r2, [%rd2];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WORK;
  ret;
SET:
  mov.u32 %r4, 1;
  nanosleep.u32 100;
  nanosleep.u32 100;
  st.global.u32 [%rd2+4], %r4;
  ret;
}
)";

TEST(Progress, WhoIsPassedOverComesBack) {
  JobSpec j = sharing(kPollsTwoFlags, 1, 96, 16);
  for (const std::string& policy : schedule::policy_names()) {
    Outcome o = run_within(50000000, j, policy);
    ASSERT_TRUE(o.completed) << policy << ' ' << kind_name(o.events[0].kind);
    EXPECT_EQ(word(o, 1, 0), 1u) << policy;
  }
}

// The last CTA sets the flag that all others wait for.
const char* kLastSetsFlag = R"(
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %nctaid.x;
  add.u32 %r1, %r1, 1;
  setp.eq.u32 %p1, %r1, %r2;
  @%p1 bra SET;
WAIT:
  ld.relaxed.gpu.global.u32 %r3, [%rd1];
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra WAIT;
  ret;
SET:
  mov.u32 %r4, 1;
  st.relaxed.gpu.global.u32 [%rd1], %r4;
  ret;
}
)";

// As many CTAs run at once as the device model holds: one more, and the last never starts.
TEST(Progress, OnlyResidentCtasWaitForEachOther) {
  for (uint32_t more : {0u, 1u}) {
    JobSpec j = sharing(kLastSetsFlag, 132 + more, 32, 4);
    j.launches[0].dynamic_shared = 200 << 10; // one CTA an SM
    ASSERT_EQ(residency(j.launches[0], j.device), 132u);
    // A visit of a waiting CTA counts as 256 and some.
    Outcome o = run_within(100000000, j, "canonical");
    EXPECT_EQ(o.completed, more == 0);
    if (more) {
      EXPECT_EQ(o.events[0].kind, EventKind::hang);
    }
  }
}

// While a CTA stores, by matrix rows too, the canonical policy lets no other start.
TEST(Progress, MatrixStoresAreProgress) {
  std::string text = header(".param .u64 l") + R"(
    .reg .pred %p<2>; .reg .b32 %r<6>; .shared .align 16 .b8 rows[128];
    mov.u32 %r1, %tid.x; and.b32 %r1, %r1, 7; shl.b32 %r1, %r1, 4;
    mov.u32 %r2, rows; add.u32 %r1, %r1, %r2; mov.u32 %r3, 0;
  L:
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r3};
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, 1000;
    @%p1 bra L;
    ret;
  })";
  text.replace(text.find("sm_80"), 5, "sm_90");
  RunOptions options;
  options.quantum = 16;
  Outcome o = run_with(job(text, 2, 32, {4}), "canonical", 1, options);
  ASSERT_TRUE(o.completed);
  uint32_t last = 0;
  for (const schedule::Trace::Step& s : o.trace.steps) {
    EXPECT_GE(s.agent.cta, last);
    last = s.agent.cta;
  }
  EXPECT_EQ(last, 1u);
}

TEST(Progress, DeadlockNamesEveryWait) {
  JobSpec j = job(header(".param .u64 l") + R"(
    .reg .pred %p<2>; .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra B;
    barrier.sync.aligned 1, 64;
    ret;
  B:
    barrier.sync.aligned 2, 64;
    ret;
  })",
                  1, 64, {4});
  Outcome o = run_with(j, "canonical", 1);
  ASSERT_FALSE(o.completed);
  EXPECT_EQ(o.events[0].kind, EventKind::deadlock);
  EXPECT_EQ(o.events[0].places.size(), 2u);
}

TEST(Budget, SpentBudgetIsNoVerdict) {
  JobSpec j = job(header(".param .u64 l") + "L: bra L;\n}", 1, 32, {4});
  Outcome o = run_within(100000, j, "canonical");
  ASSERT_FALSE(o.completed);
  EXPECT_EQ(o.events[0].kind, EventKind::budget);
}

// A hundred atomics conflict in more ways than are kept, and that within a few turns; the race
// behind them is lost.
TEST(Budget, ConflictsWithoutRoomAreNoVerdict) {
  std::string text = header(".param .u64 l, .param .u64 c") +
                     ".reg .b32 %r<2>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [l];"
                     "ld.param.u64 %rd2, [c]; mov.u32 %r1, %tid.x;";
  for (int i = 0; i < 100; ++i) text += "red.relaxed.gpu.global.add.u32 [%rd1], 1;\n";
  Outcome o =
      run_with(job(text + "st.global.u32 [%rd2], %r1; ret; }", 1, 64, {4, 4}), "canonical", 1);
  EXPECT_FALSE(o.completed);
  ASSERT_FALSE(o.events.empty());
  EXPECT_EQ(o.events[0].kind, EventKind::out_of_memory);
}

} // namespace
} // namespace assay::vgpu::test
