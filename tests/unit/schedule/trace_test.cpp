// Traces: what is written is read back, and what is malformed is refused with its line.
#include "schedule/trace.hpp"

#include <gtest/gtest.h>

using namespace assay;
using namespace assay::schedule;

namespace {

Trace sample() {
  Trace t;
  t.program = hash128("p", 1);
  t.launch = hash128("l", 1);
  t.inputs = hash128("i", 1);
  t.device = "h200";
  t.policy = "random";
  t.seed = 7;
  t.budget = 1000;
  t.outcome = hash128("o", 1);
  t.steps = {{0, {0, 0}, 1}, {0, {0, 0}, 1}, {0, {3, 65536}, 4294967295u}, {1, {0, 33}, 2}};
  t.choices = {0, 0, 0, 5, 1, 1};
  t.arms.push_back({1, 0, 0x80000000100, true, {{12, 0, 1, 5, 3}, {14, 1, 0, 0, 9}}});
  return t;
}

TEST(Trace, RoundTrip) {
  Trace t = sample();
  auto read = parse_trace(t.text(), "t");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->text(), t.text());
  EXPECT_EQ(read->steps, t.steps);
  EXPECT_EQ(read->choices, t.choices);
  ASSERT_EQ(read->arms.size(), 1u);
  EXPECT_EQ(read->arms[0].sides[1].time, 9u);
  EXPECT_EQ(read->budget, 1000u);
  EXPECT_EQ(read->outcome, t.outcome);
}

TEST(Trace, KeepsWhatItIsAWitnessOf) {
  Trace t = sample();
  t.finding = "race";
  t.command = "'a b.cu' --grid 2";
  t.sites = {
      {"write", 1, 2, 3, 18, 55, "a b.cu", "p[i] = v; // x", "", "}", "st.shared.f32 [%r1], %f1"},
      {"-", 0, 0, 0, 7, 9, "k.ptx", "", "", "", ""}};
  auto read = parse_trace(t.text(), "t");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->finding, t.finding);
  EXPECT_EQ(read->command, t.command);
  EXPECT_EQ(read->sites, t.sites);
  EXPECT_EQ(read->text(), t.text());
}

TEST(Trace, WhatASourceHoldsStaysOnItsLine) {
  Trace t = sample();
  t.finding = "race";
  t.sites.resize(1);
  t.sites[0].operation = "read";
  t.sites[0].file = "k.cu";
  t.sites[0].text = "x\nend 0\tstep";
  auto read = parse_trace(t.text(), "t");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->sites[0].text, "x end 0 step");
}

TEST(Trace, AGuideLeavesOutWhatCannotRun) {
  Trace t = sample();
  t.steps = {{0, {0, 0}, 1}, {0, {5, 0}, 1}, {0, {0, 32}, 2}, {1, {0, 0}, 3}};
  uint64_t preemptions = 0;
  auto guide = make_guided(t, preemptions);
  guide->begin({});
  const AgentId agents[] = {{0, 0}, {0, 32}};
  EXPECT_EQ(guide->pick(agents, -1).pick, 0u);
  EXPECT_EQ(preemptions, 0u);
  EXPECT_EQ(guide->pick(agents, 0).pick, 1u); // {5, 0} is not there
  EXPECT_EQ(preemptions, 1u);                 // {0, 0} could have gone on
  EXPECT_EQ(guide->pick(agents, 1).pick, 0u); // the next step is of another launch: canonical
  EXPECT_EQ(preemptions, 1u);
}

TEST(Trace, MalformedLinesAreRefusedWithTheirPlace) {
  for (std::string line :
       {"step 0 0", "step 0 0 0 1x", "choices 1x", "program abc", "nonsense",
        "step 0 0 0 1x99999999999", "choices 1x134217729", "policy random 7",
        "policy sideways 7 budget 0", "end abc", "end", "source x", "site - 0 0", "finding"}) {
    auto read = parse_trace("assay-trace 6\n" + line + "\n", "t");
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().span.line, 2u);
  }
  EXPECT_FALSE(parse_trace("assay-trace 2\n", "t"));
  EXPECT_FALSE(parse_trace("assay-trace 99\n", "t"));
  EXPECT_FALSE(parse_trace("", "t"));
}

// Every part of a trace that is missing at its end is missed.
TEST(Trace, CutShortIsRefused) {
  const std::string text = sample().text();
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(parse_trace(text.substr(0, size), "t")) << size;
  EXPECT_FALSE(parse_trace(text + "step 0 0 0 1\n", "t"));
  EXPECT_FALSE(parse_trace(text + "\n", "t"));
}

// Few lines stand for any number of items, but memory for them is limited.
TEST(Trace, RepeatsAreLimitedInAll) {
  std::string text = "assay-trace 6\nchoices 0x134217728\n";
  EXPECT_NE(parse_trace(text, "t").error().message.find("cut short"), std::string::npos);
  EXPECT_NE(parse_trace(text + "choices 0x1\n", "t").error().message.find("malformed"),
            std::string::npos);
}

// Replay asks for exactly the recorded agents, and for an impossible one when they cannot run.
TEST(Trace, ReplayGivesTheRecordedAnswers) {
  Trace t = sample();
  t.arms.clear();
  auto replay = make_replay(t);
  replay->begin({0, 4, 4, 4});
  std::vector<AgentId> runnable = {{0, 0}, {0, 32}, {3, 65536}};
  EXPECT_EQ(replay->pick(runnable, -1).pick, 0u);
  EXPECT_EQ(replay->pick(runnable, 0).pick, 0u);
  EXPECT_EQ(replay->pick(runnable, 0).pick, 2u);
  EXPECT_EQ(replay->pick(runnable, 0).pick, 3u) << "agent {0, 33} is not runnable";
  for (uint32_t want : {0u, 0u, 0u}) EXPECT_EQ(replay->choose(Choice::admit, 9), want);
  EXPECT_EQ(replay->choose(Choice::lane_order, 2), 5u) << "the seed of a permutation";
  EXPECT_EQ(replay->choose(Choice::admit, 9), 1u);
  EXPECT_EQ(replay->choose(Choice::admit, 1), 0u) << "1 is no answer among one";
}

TEST(Policies, EachIsDeterministicAndInRange) {
  std::vector<AgentId> runnable = {{0, 0}, {0, 32}, {1, 0}, {1, 5}, {2, 65536}};
  for (const std::string& name : policy_names()) {
    auto a = make_policy(name, 3), b = make_policy(name, 3);
    ASSERT_TRUE(a && b) << name;
    EXPECT_EQ(a->name(), name);
    a->begin({0, 3, 2, 3});
    b->begin({0, 3, 2, 3});
    int given = 0;
    for (int i = 0; i < 200; ++i) {
      Decision x = a->pick(runnable, i % 6 - 1), y = b->pick(runnable, i % 6 - 1);
      ASSERT_LT(x.pick, runnable.size());
      given += x.points > 0; // none: up to the next point
      ASSERT_EQ(x.pick, y.pick);
      ASSERT_EQ(x.points, y.points);
      ASSERT_LT(a->choose(Choice::split, 5), 5u);
      ASSERT_LT(a->choose(Choice::admit, 7), 7u);
      b->choose(Choice::split, 5);
      b->choose(Choice::admit, 7);
    }
    EXPECT_GT(given, 20) << name;
  }
  EXPECT_EQ(make_policy("no-such", 1), nullptr);
}

} // namespace
