// mbarrier objects and asynchronous copies: what the policies choose, what counts as a proof, and
// that every run's trace replays.
#include "job.hpp"

#include "schedule/trace.hpp"

namespace assay::vgpu::test {
namespace {

// 64 threads; object `bar` for `count` arrivals, %p1: thread of warp 1, b0: a word for each thread.
JobSpec two_warps(uint32_t count, const std::string& body) {
  return job(header(".param .u64 o, .param .u64 i") +
                 ".shared .align 8 .b64 bar; .shared .align 16 .b8 data[256];\n"
                 ".reg .pred %p<4>; .reg .b32 %r<6>; .reg .b64 %rd<5>, %s;\n"
                 "ld.param.u64 %rd1, [o]; ld.param.u64 %rd2, [i]; mov.u32 %r1, %tid.x;\n"
                 "mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 4, %rd2;\n"
                 "shl.b32 %r2, %r1, 2; mov.u32 %r3, data; add.u32 %r2, %r2, %r3;\n"
                 "setp.eq.u32 %p0, %r1, 0; setp.ge.u32 %p1, %r1, 32;\n"
                 "@%p0 mbarrier.init.shared.b64 [bar], " +
                 std::to_string(count) + ";\nbar.sync 0;\n" + body + "ret;\n}\n",
             1, 64, {256, 256});
}

bool proved(const Outcome& out) { return out.completed && out.proof.barriers_only; }

// Warp 0 copies, warp 1 waits for the copies and reads them; then the roles change.
const char* kCopies = R"(
  @%p1 bra SECOND;
  cp.async.ca.shared.global [%r2], [%rd2], 4;
  cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
  bra DONE;
SECOND:
W:
  mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;
  @!%p2 bra W;
  ld.shared.u32 %r4, [%r2+-128];
  st.global.u32 [%rd1], %r4;
DONE:
)";

} // namespace

TEST(Mbarrier, EveryPolicyWaitsAndReplays) {
  JobSpec spec = two_warps(32, kCopies);
  for (const std::string& name : schedule::policy_names()) {
    auto policy = schedule::make_policy(name, 5);
    Outcome out = run(spec, *policy, RunOptions{});
    ASSERT_TRUE(out.completed) << name;
    EXPECT_TRUE(out.conflicts.at(0).conflicts.empty()) << name;
    auto again = schedule::make_replay(out.trace);
    EXPECT_EQ(run(spec, *again, RunOptions{}).digest, out.digest) << name;
  }
  auto canonical = schedule::make_policy("canonical", 1);
  EXPECT_TRUE(proved(run(spec, *canonical, RunOptions{})));
}

// A thread reads what its copy has not been waited for: late the old bytes, early the new ones.
TEST(Mbarrier, CopiesAreLateAndEarly) {
  JobSpec spec = two_warps(64, R"(
  mov.u32 %r5, 7;
  st.shared.u32 [%r2], %r5;
  cp.async.ca.shared.global [%r2], [%rd2], 4;
  bar.sync 0;
  ld.shared.u32 %r4, [%r2];
  st.global.u32 [%rd1], %r4;
)");
  spec.buffers[1].data.assign(256, 9);
  auto word = [&](const char* name) {
    auto policy = schedule::make_policy(name, 1);
    Outcome out = run(spec, *policy, RunOptions{});
    EXPECT_TRUE(out.completed) << name;
    return out.memory.at(0).at(0);
  };
  EXPECT_EQ(word("async-late"), 7);
  EXPECT_EQ(word("async-early"), 9);
}

// Each of these breaks one of the conditions of docs/concurrency.md under which phases are the same
// in every schedule.
TEST(Mbarrier, NoProofWherePhasesMayMeetOthers) {
  const char* wait = "W: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;\n";
  const char* arrive = "mbarrier.arrive.shared.b64 %s, [bar];\n";
  auto policy = schedule::make_policy("canonical", 1);
  auto proof_of = [&](uint32_t count, const std::string& body) {
    Outcome out = run(two_warps(count, body), *policy, RunOptions{});
    EXPECT_TRUE(out.completed);
    return proved(out);
  };
  EXPECT_TRUE(proof_of(64, std::string(arrive) + wait));
  // Two arrivals of each thread for 64: who is in which phase?
  EXPECT_FALSE(proof_of(64, std::string(arrive) + arrive));
  // The answer is used otherwise than to ask again.
  EXPECT_FALSE(proof_of(32, "@!%p1 mbarrier.arrive.shared.b64 %s, [bar];\n"
                            "mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n"
                            "selp.u32 %r4, 1, 0, %p2; st.global.u32 [%rd1], %r4;\n"));
  // Nothing keeps phase 1 from passing before warp 1 has asked for phase 0: some runs end in a
  // deadlock, and the others prove nothing.
  JobSpec late =
      two_warps(32, "@%p1 bra S;\n" + std::string(arrive) +
                        "V: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n"
                        "@!%p2 bra V;\n" +
                        arrive +
                        "bra D;\nS: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0;\n"
                        "@!%p2 bra S;\nD:\n");
  uint32_t completed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Outcome out = run_with(late, "random", seed);
    completed += out.completed;
    EXPECT_FALSE(proved(out));
  }
  EXPECT_GT(completed, 0u);
  EXPECT_LT(completed, 20u);
}

TEST(Mbarrier, AMissingArrivalIsADeadlock) {
  const std::string body = "@%p0 bra D;\nmbarrier.arrive.shared.b64 %s, [bar];\nD:\n"
                           "W: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;\n";
  for (const std::string& name : schedule::policy_names()) {
    auto policy = schedule::make_policy(name, 2);
    Outcome out = run(two_warps(64, body), *policy, RunOptions{});
    ASSERT_EQ(out.events.size(), 1u) << name;
    EXPECT_EQ(out.events[0].kind, EventKind::deadlock) << name;
    EXPECT_NE(out.events[0].places.at(0).operation.find("1 of 64 arrivals"), std::string::npos);
  }
}

// It gives up by itself: no deadlock.
TEST(Mbarrier, WhoGivesUpIsToldNo) {
  const std::string body = "mov.u32 %r4, 0;\n"
                           "W: mbarrier.test_wait.parity.shared.b64 %p2, [bar], 0; @%p2 bra D;\n"
                           "add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 20; @%p3 bra W;\n"
                           "D: st.global.u32 [%rd1], %r4;\n";
  auto policy = schedule::make_policy("canonical", 2);
  Outcome out = run(two_warps(64, body), *policy, RunOptions{});
  ASSERT_TRUE(out.completed);
  EXPECT_EQ(out.memory.at(0).at(0), 20);
  EXPECT_FALSE(proved(out));
}

} // namespace assay::vgpu::test
