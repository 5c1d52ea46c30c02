// The rules of docs/concurrency.md §2: which unordered accesses are what.
#include "scene.hpp"

namespace assay::race::test {
namespace {

using Order = Detector::Order;
constexpr Lane kA{0, 0, 0}, kB{0, 1, 5}, kFar{1, 0, 0};

TEST(Race, NeedsAWrite) {
  Scene s;
  s.read(kA, kData, 1);
  s.read(kB, kData, 2);
  EXPECT_EQ(s.found(), "");
}
TEST(Race, ReadsAreNotForgotten) { // two reads by different instructions, one unordered write
  Scene s;
  s.read(kA, kData, 1);
  s.read(kA, kData, 2);
  s.write(kB, kData, 3);
  EXPECT_EQ(s.found(), "race 1 3, race 2 3");
}
TEST(Race, WritesAreNotForgotten) { // of two ordered writes, both race with a third
  Scene s;
  s.write(kA, kData, 1);
  s.barrier_all(0);
  s.write(kB, kData, 2);
  s.write(kFar, kData, 3);
  EXPECT_EQ(s.found(), "race 1 3, race 2 3");
}
TEST(Race, ToTheByte) {
  for (uint8_t bytes : {1, 2, 4, 8}) {
    Scene s;
    s.bytes(bytes);
    s.write(kA, kData, 1);
    s.write(kB, kData + bytes, 2);
    EXPECT_EQ(s.found(), "");
    s.bytes(1).read(kB, kData + bytes - 1, 3);
    EXPECT_EQ(s.found(), "race 1 3");
    EXPECT_EQ(s.d.conflicts().front().address, kData + bytes - 1);
    EXPECT_EQ(s.d.conflicts().front().bytes, 1u);
  }
}
TEST(Race, WideAccessesOverRows) {
  Scene s;
  // 512 bytes
  s.d.affine(Space::global, {0, 0}, kData + 64, 1, weak_attributes(true, false, 16));
  s.bytes(4).read(kB, kData + 60, 2);
  s.read(kB, kData + 576, 3);
  EXPECT_EQ(s.found(), "");
  s.read(kB, kData + 64, 4);
  s.read(kB, kData + 300, 5);
  s.read(kB, kData + 572, 6);
  EXPECT_EQ(s.found(), "race 1 4, race 1 5, race 1 6");
}
TEST(Race, SharedMemoryIsTheCtasOwn) {
  Scene s;
  s.in(Space::shared);
  s.write(kA, 0, 1);
  s.write(kFar, 0, 2);
  EXPECT_EQ(s.found(), "");
  s.write(kB, 0, 3);
  EXPECT_EQ(s.found(), "race 1 3");
}
TEST(Race, SharedMemoryDiesWithItsCta) {
  Scene s(1);
  s.in(Space::shared).write(kA, 0, 1);
  s.d.exited({0, 0}, ~0u);
  s.d.cta_end(0);
  Scene other(2);
  other.d.cta_end(0);
  other.in(Space::shared).write(kFar, 0, 1);
  EXPECT_EQ(s.found() + other.found(), "");
}
TEST(Race, OutlivesTheCta) {
  Scene s;
  s.write(kA, kData, 1);
  s.d.cta_end(0);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(Race, UntrackedMemoryIsIgnored) {
  Scene s;
  s.write(kA, kData + (1 << 20), 1);
  s.write(kB, kData + (1 << 20), 2);
  EXPECT_EQ(s.found(), "");
}

TEST(OrderConflict, BetweenMorallyStrongOnes) {
  Scene s;
  s.atomic(kA, kFlag, 1, Order::relaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 2, Order::relaxed, Scope::sys);
  EXPECT_EQ(s.found(), "order 1 2");
}
TEST(OrderConflict, NotOutOfScope) {
  Scene s, t;
  s.atomic(kA, kFlag, 1, Order::relaxed, Scope::cta);
  s.atomic(kFar, kFlag, 2, Order::relaxed, Scope::gpu);
  EXPECT_EQ(s.found(), "race 1 2");
  t.atomic(kA, kFlag, 1, Order::relaxed, Scope::cta);
  t.atomic(kB, kFlag, 2, Order::relaxed, Scope::gpu);
  EXPECT_EQ(t.found(), "order 1 2");
}
TEST(OrderConflict, NotOfDifferentSizes) {
  Scene s;
  s.bytes(8).atomic(kA, kFlag, 1, Order::relaxed, Scope::gpu);
  s.bytes(4).atomic(kFar, kFlag, 2, Order::relaxed, Scope::gpu);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(OrderConflict, NotWithPlainAccesses) {
  Scene s;
  s.atomic(kA, kFlag, 1, Order::relaxed, Scope::gpu);
  s.read(kFar, kFlag, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}

TEST(ValueRace, AllStoreTheSame) { // changed = 1
  Scene s;
  s.write(kA, kData, 1);
  for (uint32_t l = 1; l < 32; ++l) s.write({0, 0, l}, kData, 1, true);
  s.write(kFar, kData, 1, true);
  EXPECT_EQ(s.found(), "value 1 1");
}
TEST(ValueRace, NotWhenAReadSeesTwoValues) {
  Scene s;
  s.write(kA, kData, 1);
  s.write(kB, kData, 2, true);
  s.read(kFar, kData, 3);
  EXPECT_EQ(s.found(), "race 1 3, value 1 2, value 2 3");
}
TEST(ValueRace, NotWhenTheValueChangedInBetween) {
  Scene s;
  s.write(kA, kData, 1);
  s.write(kA, kData, 2);
  s.write(kB, kData, 3, true); // what 2 stored, not what 1 did
  EXPECT_EQ(s.found(), "race 1 3, value 2 3");
}
TEST(ValueRace, NotWhenTheWriteChangesSomething) {
  Scene s;
  s.write(kA, kData, 1);
  s.write(kB, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}

TEST(SameInstruction, DifferentAndEqualValues) {
  for (bool equal : {false, true}) {
    Scene s;
    std::array<uint64_t, 32> address;
    address.fill(kData);
    std::array<uint32_t, 32> values{};
    if (!equal) values[7] = 1;
    s.d.access(Space::global, {0, 0}, 0x81, address.data(), s.info(1, true), values.data(), 4, 0);
    EXPECT_EQ(s.found(), equal ? "value 1 1" : "same 1 1");
  }
}
TEST(SameInstruction, NextTurnOfTheLoopIsAnother) {
  Scene s;
  std::array<uint64_t, 32> address;
  for (uint32_t l = 0; l < 32; ++l) address[l] = kData + 4 * l;
  s.d.access(Space::global, {0, 0}, ~0u, address.data(), s.info(1, true), nullptr, 0, 0);
  for (uint64_t& a : address) a += 4;
  s.d.access(Space::global, {0, 0}, ~0u, address.data(), s.info(1, true), nullptr, 0, 0);
  EXPECT_EQ(s.found(), "race 1 1");
}

TEST(NonCoherent, RacesWithAnyWriteOfTheLaunch) {
  Scene s, t;
  s.write(kA, kData, 1);
  s.barrier_all(0);
  s.nc_read(kB, kData, 2); // ordered, and yet
  EXPECT_EQ(s.found(), "race 1 2");
  t.nc_read(kA, kData, 1);
  t.write(kA, kData, 2);
  t.nc_read(kA, kData + 4, 3);
  EXPECT_EQ(t.found(), "race 1 2");
}

TEST(Instances, FirstLastAndBoundary) {
  Scene s(8);
  for (uint32_t c = 0; c < 8; ++c) s.write({c, 0, c}, kData, 1);
  const auto& list = s.d.conflicts();
  ASSERT_GE(list.size(), 2u);
  ASSERT_LE(list.size(), 4u);
  EXPECT_EQ(list[0].first.agent.cta, 0u);
  EXPECT_EQ(list[0].second.agent.cta, 1u);
  EXPECT_EQ(list[0].second.lane, 1u);
  EXPECT_EQ(list[1].second.agent.cta, 7u);
  EXPECT_EQ(s.d.conflict_counts()[0], 28u);
}
TEST(Instances, DistancesAreApart) { // warp, CTA, grid
  Scene s;
  s.write(kA, kData, 1);
  s.write({0, 0, 1}, kData, 1);
  s.write(kB, kData, 1);
  s.write(kFar, kData, 1);
  std::array<int, 3> seen{};
  for (const Conflict& c : s.d.conflicts())
    ++seen[c.first.agent.cta != c.second.agent.cta     ? 2
           : c.first.agent.warp != c.second.agent.warp ? 1
                                                       : 0];
  for (int n : seen) EXPECT_GE(n, 1);
}
TEST(Instances, TimeNamesTheMoment) {
  Scene s;
  s.read(kA, kData, 1);
  uint32_t before = s.d.time({0, 0}, 0);
  s.barrier_all(0);
  EXPECT_GT(s.d.time({0, 0}, 0), before);
  s.write(kFar, kData, 2);
  EXPECT_EQ(s.d.conflicts()[0].first.time, before);
}

TEST(Limits, FullMemoryIsSaid) {
  Scene s(1, 1, 32, Limits{8192, 4096});
  EXPECT_FALSE(s.d.overflowed());
  for (uint64_t a = 0; a < (1 << 16); a += 128) s.write(kA, kData + a, 1);
  EXPECT_TRUE(s.d.overflowed());
}
TEST(Limits, FullMemoryIsSaidOfReadsOfWholeWarps) {
  Scene s(1, 1, 32, Limits{16384, 4096}); // less than the first records take
  EXPECT_FALSE(s.d.overflowed());
  s.d.affine(Space::global, {0, 0}, kData, 1, weak_attributes(false, false, 4));
  EXPECT_TRUE(s.d.overflowed());
}
TEST(Limits, TooManyConflictsAreSaid) {
  Scene s(1, 3, 32, Limits{1 << 30, 3});
  for (uint32_t pc = 1; pc < 4; ++pc) s.read(kA, kData, pc);
  s.write(kB, kData, 10);
  EXPECT_FALSE(s.d.overflowed());
  s.write({0, 2, 0}, kData, 11);
  EXPECT_TRUE(s.d.overflowed());
}

} // namespace
} // namespace assay::race::test
