// Reasons against replaying, and verdicts.
#include "native/judge.hpp"

#include <gtest/gtest.h>

namespace assay::native {
namespace {

Circumstances good() {
  Circumstances c;
  c.code.known = true;
  c.reachable = {{0x1000, 0x100, 0, 0}, {0x2000, 0x100, kModuleMemory, 0}};
  return c;
}

Launch launch_of(const std::string& symbol) {
  Launch launch;
  launch.symbol = symbol;
  return launch;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Reasons, NoneForAPrivateLaunch) { EXPECT_EQ(reason_against(launch_of("k"), good()), ""); }

TEST(Reasons, MemoryOfOthers) {
  for (uint32_t trait : {kManaged, kHostMapped, kPeer, kExported, kImported, kMulticast}) {
    Circumstances c = good();
    c.reachable[1].traits = trait;
    EXPECT_TRUE(has(reason_against(launch_of("k"), c), "talks to others")) << trait;
  }
}

TEST(Reasons, KernelsOfCommunicationLibraries) {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "nvshmemi_barrier", "_Z20ncclKernel_AllReducev"})
    EXPECT_TRUE(has(reason_against(launch_of(name), good()), "talks to others")) << name;
  EXPECT_EQ(reason_against(launch_of("_Z4copyPf"), good()), "");
}

TEST(Reasons, EachCircumstance) {
  auto with = [](auto change) {
    Circumstances c = good();
    change(c);
    return reason_against(launch_of("k"), c);
  };
  EXPECT_TRUE(has(with([](Circumstances& c) { c.several_devices = true; }), "several devices"));
  EXPECT_TRUE(has(with([](Circumstances& c) { c.externals = {"vprintf"}; }), "printf"));
  EXPECT_TRUE(has(with([](Circumstances& c) { c.externals = {"malloc"}; }), "heap"));
  EXPECT_TRUE(
      has(with([](Circumstances& c) { c.externals = {"cudaLaunchDeviceV2"}; }), "from the device"));
  EXPECT_TRUE(has(with([](Circumstances& c) { c.code.surface_stores = true; }), "surface"));
  EXPECT_TRUE(has(with([](Circumstances& c) { c.parameters_known = false; }), "parameters"));
  EXPECT_EQ(with([](Circumstances& c) { c.externals = {"__assertfail"}; }), "");
}

Run plain(uint64_t differing = 0) {
  Run run;
  run.differing_bytes = differing;
  return run;
}
Run perturbed(uint64_t delayed, uint64_t differing = 0) {
  Run run = plain(differing);
  run.perturbed = true;
  run.scheme = "shared memory, by warp";
  run.delayed = delayed;
  return run;
}
Evidence evidence_of(std::vector<Run> runs) {
  Evidence e;
  e.runs = std::move(runs);
  e.code.known = true;
  e.inventory.counters[kGlobalReads] = 1;
  return e;
}

TEST(Verdicts, ADifferenceFails) {
  Decision d = decide(evidence_of({plain(), plain(3)}));
  EXPECT_EQ(d.verdict, Verdict::fail);
  EXPECT_EQ(d.kind, "nondeterministic");
  EXPECT_TRUE(has(d.reason, "3 bytes")) << d.reason;
  EXPECT_TRUE(has(d.reason, "without any delay")) << d.reason;
  d = decide(evidence_of({plain(), perturbed(5, 1)}));
  EXPECT_TRUE(has(d.reason, "1 byte differed")) << d.reason;
  EXPECT_TRUE(has(d.reason, "shared memory, by warp")) << d.reason;
}

TEST(Verdicts, ClockAndFloatAtomicsAreClassedApartAndStillFail) {
  Evidence e = evidence_of({plain(3)});
  e.float_atomics_only = true;
  EXPECT_EQ(decide(e).kind, "fp-atomic-order");
  EXPECT_EQ(decide(e).verdict, Verdict::fail);
  EXPECT_TRUE(has(decide(e).reason, "consistent with"));
  e.code.reads_time = true;
  EXPECT_EQ(decide(e).kind, "time-dependent");
}

TEST(Verdicts, APassNeedsDelaysThatDidSomething) {
  EXPECT_EQ(decide(evidence_of({plain(), perturbed(5)})).verdict, Verdict::pass);
  Decision d = decide(evidence_of({plain(), perturbed(0)}));
  EXPECT_EQ(d.verdict, Verdict::unknown);
  EXPECT_TRUE(has(d.reason, "no evidence")) << d.reason;
}

TEST(Verdicts, PressureFromOutsideIsSaidAndIsNoDelay) {
  auto pressed = plain();
  pressed.outside = true;
  pressed.scheme = "cold cache";
  Decision d = decide(evidence_of({plain(), pressed, perturbed(0)}));
  EXPECT_EQ(d.verdict, Verdict::unknown) << "no access was delayed";
  d = decide(evidence_of({plain(), pressed, perturbed(5)}));
  EXPECT_EQ(d.verdict, Verdict::pass);
  EXPECT_TRUE(has(d.reason, "1 under pressure from outside")) << d.reason;
  pressed.differing_bytes = 4;
  d = decide(evidence_of({plain(), pressed}));
  EXPECT_EQ(d.verdict, Verdict::fail);
  EXPECT_TRUE(has(d.reason, "(cold cache)")) << d.reason;
}

TEST(Verdicts, ARepeatThatDoesNotEndIsAHangOnlyIfDelaysCannotBeTheReason) {
  auto run = perturbed(5);
  run.most_cycles = 1'000'000'000; // two seconds at most
  EXPECT_TRUE(hangs_by_itself(run, 4, 10'000));
  EXPECT_FALSE(hangs_by_itself(run, 4, 8'000));
  EXPECT_FALSE(hangs_by_itself(run, 0, 10'000)) << "never seen to end without delays";
  EXPECT_FALSE(hangs_by_itself(plain(), 4, 10'000)) << "the replay may be at fault";
}

TEST(Verdicts, EndsThatAreTheKernelsOwn) {
  EXPECT_STREQ(kind_of_end("CUDA_ERROR_ASSERT"), "assert");
  EXPECT_STREQ(kind_of_end("CUDA_ERROR_MISALIGNED_ADDRESS"), "misaligned");
  EXPECT_STREQ(kind_of_end("CUDA_ERROR_ILLEGAL_INSTRUCTION"), "") << "patches have done that";
}

TEST(Verdicts, WhatMayOverlapIsNotPassedAlone) {
  Evidence e = evidence_of({plain(), perturbed(5)});
  e.alone = true;
  EXPECT_EQ(decide(e).verdict, Verdict::unknown);
  EXPECT_TRUE(has(decide(e).reason, "overlaps with the launch before")) << decide(e).reason;
  e.runs.push_back(plain(1));
  EXPECT_EQ(decide(e).verdict, Verdict::fail);
}

TEST(Verdicts, NothingToPerturbPassesOnlyWhenAllWasSeen) {
  EXPECT_EQ(decide(evidence_of({plain()})).verdict, Verdict::pass);
  Evidence e = evidence_of({plain()});
  e.code.tensor_loads = true;
  EXPECT_EQ(decide(e).verdict, Verdict::unknown);
  e = evidence_of({plain()});
  e.inventory.counters[kBulkLoads] = 1;
  EXPECT_EQ(decide(e).verdict, Verdict::unknown);
  e = evidence_of({plain()});
  e.code.known = false;
  EXPECT_EQ(decide(e).verdict, Verdict::unknown);
  e = evidence_of({plain()});
  e.schemes = 1;
  EXPECT_EQ(decide(e).verdict, Verdict::unknown);
}

TEST(Verdicts, WithoutRepeatsOrInstrumentationUnknown) {
  EXPECT_EQ(decide(evidence_of({})).verdict, Verdict::unknown);
  Evidence e = evidence_of({plain()});
  e.bare = "its grid is resident together only without instrumentation";
  EXPECT_EQ(decide(e).verdict, Verdict::unknown);
}

TEST(Verdicts, AnEmptyKernelIsANote) {
  Evidence e;
  e.runs = {plain()};
  e.code.known = true;
  const Decision d = decide(e);
  EXPECT_EQ(d.verdict, Verdict::pass);
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_TRUE(has(d.notes[0], "empty-kernel"));
}

} // namespace
} // namespace assay::native
