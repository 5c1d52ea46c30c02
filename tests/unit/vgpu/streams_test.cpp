// Launches on several streams, events, programmatic dependent launches: launch_order.hpp.
#include "job.hpp"

#include "vgpu/launch_order.hpp"

#include <set>

namespace assay::vgpu::test {
namespace {

using Indices = std::vector<uint32_t>;

// Launches of one empty kernel.
JobSpec launches(size_t n) {
  JobSpec j = job(header("") + "exit; }", 3, 32, {});
  j.launches.resize(n, j.launches[0]);
  return j;
}

TEST(Order, OneStreamIsASequence) {
  LaunchOrder order = launch_order(launches(3));
  EXPECT_EQ(order.stage, (Indices{0, 1, 2}));
  EXPECT_EQ(order.first_cta, (Indices{0, 0, 0}));
}
TEST(Order, OtherStreamsOverlap) {
  JobSpec j = launches(4);
  j.launches[1].stream = 1;
  LaunchOrder order = launch_order(j);
  EXPECT_EQ(order.stage, (Indices{0, 0, 0, 0}));
  EXPECT_EQ(order.first_cta, (Indices{0, 3, 6, 9}));
  EXPECT_EQ(order.behind[3], (Indices{0, 2}));
  EXPECT_EQ(order.behind[1], (Indices{}));
}
TEST(Order, AnEventStandsForAllBeforeItInItsStream) {
  JobSpec j = launches(4); // 0 and 1 on one stream; 2 waits for 1; 3 for 2
  j.launches[2].stream = 1;
  j.launches[2].after = {1};
  j.launches[3].after = {2};
  LaunchOrder order = launch_order(j);
  EXPECT_EQ(order.behind[2], (Indices{0, 1}));
  EXPECT_EQ(order.behind[3], (Indices{0, 1, 2}));
  EXPECT_EQ(order.stage, (Indices{0, 1, 2, 3})) << "all are in sequence";
}
TEST(Order, StagesEndWhereAllThatFollowIsBehind) {
  JobSpec j = launches(4); // 0 and 1 overlap, 2 joins them, 3 follows on the other stream
  j.launches[1].stream = 1;
  j.launches[2].after = {1};
  j.launches[3].stream = 1;
  j.launches[3].after = {2};
  EXPECT_EQ(launch_order(j).stage, (Indices{0, 0, 2, 3}));
}
TEST(Order, ProgrammaticOnesFollowOnlyWhatTheOneBeforeFollowed) {
  JobSpec j = launches(4);
  j.launches[1].programmatic = j.launches[2].programmatic = true;
  LaunchOrder order = launch_order(j);
  EXPECT_EQ(order.primary, (Indices{kNoLaunch, 0, 1, kNoLaunch}));
  EXPECT_EQ(order.behind[2], (Indices{}));
  EXPECT_EQ(order.behind[3], (Indices{0, 1, 2}));
  EXPECT_EQ(order.stage, (Indices{0, 0, 0, 3}));
}
TEST(Order, AFirstLaunchHasNobodyToWaitFor) {
  JobSpec j = launches(1);
  j.launches[0].programmatic = true;
  EXPECT_EQ(launch_order(j).primary, (Indices{kNoLaunch}));
}

// A module of two kernels over one word: what `first` and `second` do.
JobSpec two(const std::string& first, const std::string& second, uint32_t grid = 2) {
  auto kernel = [](const char* name, const std::string& body) {
    return std::string(".visible .entry ") + name +
           "(.param .u64 p, .param .u64 q) {\n.reg .b64 %p, %q; .reg .b32 %r<9>; .reg .pred %c;\n"
           "ld.param.u64 %p, [p]; ld.param.u64 %q, [q];\n" +
           body + "\nexit; }\n";
  };
  const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n" +
                           kernel("first", first) + kernel("second", second);
  JobSpec j = job(text, grid, 32, {4, 4}, "first");
  j.launches.push_back(j.launches[0]);
  auto program = ir::lower(j.launches[0].program->module, "second");
  EXPECT_TRUE(program) << program.error().text();
  j.launches[1].program = *program;
  return j;
}

const char* kWrite = "st.global.u32 [%p], 7;";
const char* kRead = "ld.global.u32 %r1, [%p]; st.global.u32 [%q], %r1;";

// Kinds of conflicts between the two launches.
std::multiset<race::Conflict::Kind> across(const Outcome& o) {
  std::multiset<race::Conflict::Kind> kinds;
  for (const auto& stage : o.conflicts)
    for (const race::Conflict& c : stage.conflicts)
      if (c.first.grid != c.second.grid) kinds.insert(c.kind);
  return kinds;
}
std::set<uint32_t> values(const JobSpec& j, size_t buffer) {
  std::set<uint32_t> seen;
  for (const std::string& policy : schedule::policy_names())
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      Outcome o = run_with(j, policy, seed);
      EXPECT_TRUE(o.completed) << policy;
      seen.insert(word(o, buffer, 0));
    }
  return seen;
}

TEST(Streams, RaceUnlessAnEventOrdersThem) {
  JobSpec j = two(kWrite, kRead, 1);
  EXPECT_EQ(across(run_with(j, "canonical", 1)).size(), 0u) << "one stream";
  j.launches[1].stream = 1;
  EXPECT_GT(across(run_with(j, "canonical", 1)).size(), 0u);
  EXPECT_EQ(values(j, 1), (std::set<uint32_t>{0, 7})) << "they run in either order";
  j.launches[1].after = {0};
  EXPECT_EQ(across(run_with(j, "canonical", 1)).size(), 0u);
  EXPECT_EQ(values(j, 1), (std::set<uint32_t>{7}));
}
TEST(Streams, CommunicateLikeBlocks) { // the first polls for what the second releases
  JobSpec j =
      two("again: ld.acquire.gpu.global.u32 %r1, [%p]; setp.eq.u32 %c, %r1, 0; @%c bra again;\n"
          "ld.global.u32 %r2, [%q];",
          "st.global.u32 [%q], 5; st.release.gpu.global.u32 [%p], 1;", 1);
  j.launches[0].block[0] = j.launches[1].block[0] = 1;
  j.launches[1].stream = 1;
  for (const std::string& policy : schedule::policy_names()) {
    Outcome o = run_with(j, policy, 1);
    EXPECT_TRUE(o.completed) << policy;
    EXPECT_EQ(across(o).count(race::Conflict::Kind::race), 0u) << policy;
  }
  j.launches[1].stream = 0;
  Outcome o = run_with(j, "canonical", 1);
  ASSERT_FALSE(o.events.empty()) << "in one stream the first waits for ever";
  EXPECT_EQ(o.events[0].kind, EventKind::hang);
}
TEST(Streams, ManyBlocksBesideMany) { // more than the device has room for at once
  JobSpec j = two("red.global.add.u32 [%p], 1;", "red.global.add.u32 [%p], 1;", 3000);
  j.launches[1].stream = 1;
  for (const char* policy : {"canonical", "random", "reverse"}) {
    Outcome o = run_with(j, policy, 1);
    EXPECT_TRUE(o.completed);
    EXPECT_EQ(word(o, 0, 0), 2u * 3000 * 32);
  }
}
TEST(Streams, BlocksOfOneSizeBesideAnother) {
  JobSpec j =
      two("bar.sync 0; red.global.add.u32 [%p], 1;", "bar.sync 0; red.global.add.u32 [%p], 1;", 3);
  j.launches[0].block[0] = 100;
  j.launches[1].block[0] = 40;
  j.launches[1].stream = 1;
  for (const char* policy : {"canonical", "random", "lane-split"})
    EXPECT_EQ(word(run_with(j, policy, 1), 0, 0), 3u * 140);
}
TEST(Streams, ReplaysBitForBit) {
  JobSpec j = two(kWrite, kRead);
  j.launches[1].stream = 1;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Outcome o = run_with(j, "random", seed);
    auto again = schedule::make_replay(o.trace);
    EXPECT_EQ(run(j, *again, {}).digest, o.digest);
  }
}

TEST(Programmatic, MustWaitBeforeItReads) {
  JobSpec j = two(std::string("griddepcontrol.launch_dependents;") + kWrite,
                  std::string("griddepcontrol.wait;") + kRead);
  j.launches[1].programmatic = true;
  for (const std::string& policy : schedule::policy_names()) {
    Outcome o = run_with(j, policy, 1);
    EXPECT_TRUE(o.completed) << policy;
    EXPECT_EQ(across(o).size(), 0u) << policy;
    EXPECT_EQ(word(o, 1, 0), 7u) << policy;
  }
}
TEST(Programmatic, OverlapsOnceEveryBlockHasLetItGo) {
  JobSpec j = two(std::string("griddepcontrol.launch_dependents; membar.gl;") + kWrite, kRead, 1);
  EXPECT_EQ(values(j, 1), (std::set<uint32_t>{7})) << "an ordinary launch";
  j.launches[1].programmatic = true;
  EXPECT_EQ(values(j, 1), (std::set<uint32_t>{0, 7}));
  EXPECT_GT(across(run_with(j, "canonical", 1)).size(), 0u);
}
TEST(Programmatic, WhoLetsNobodyGoEndsFirst) { // but nothing says that its writes are seen
  JobSpec j = two(kWrite, kRead, 1);
  j.launches[1].programmatic = true;
  EXPECT_EQ(values(j, 1), (std::set<uint32_t>{7}));
  EXPECT_GT(across(run_with(j, "canonical", 1)).size(), 0u);
}
TEST(Programmatic, OneBlockThatDoesNotHoldsThemAll) {
  // Block 1 polls for what only the dependents would write: they never start.
  JobSpec j = two("mov.u32 %r1, %ctaid.x; setp.ne.u32 %c, %r1, 0; @%c bra poll;\n"
                  "griddepcontrol.launch_dependents; exit;\n"
                  "poll: ld.volatile.global.u32 %r2, [%p]; setp.eq.u32 %c, %r2, 0; @%c bra poll;",
                  "st.volatile.global.u32 [%p], 1;");
  j.launches[0].block[0] = j.launches[1].block[0] = 1;
  j.launches[1].programmatic = true;
  Outcome o = run_with(j, "canonical", 1);
  ASSERT_FALSE(o.events.empty());
  EXPECT_EQ(o.events[0].kind, EventKind::hang);
}
TEST(Programmatic, WaitingForEachOtherIsADeadlockOrHang) {
  // The dependent waits for the end of the first, which polls for the dependent.
  JobSpec j = two("griddepcontrol.launch_dependents;\n"
                  "poll: ld.volatile.global.u32 %r2, [%p]; setp.eq.u32 %c, %r2, 0; @%c bra poll;",
                  "griddepcontrol.wait; st.volatile.global.u32 [%p], 1;", 1);
  j.launches[0].block[0] = j.launches[1].block[0] = 1;
  j.launches[1].programmatic = true;
  for (const char* policy : {"canonical", "random"}) {
    Outcome o = run_with(j, policy, 1);
    ASSERT_FALSE(o.events.empty());
    EXPECT_EQ(o.events[0].kind, EventKind::hang);
  }
}

} // namespace
} // namespace assay::vgpu::test
