// The observation half of causality order: an observed strong write is ordered before what follows
// its observer. Each rule beside a twin that lacks it.
#include "scene.hpp"

namespace assay::race::test {
namespace {

using Order = Detector::Order;
using Fence = Detector::Fence;
constexpr Lane kA{0, 0, 0}, kB{0, 1, 5}, kFar{1, 0, 0}, kThird{2, 0, 0};
constexpr Order kRelaxed = Order::relaxed;

TEST(Observation, OrdersTheObservedAtomic) { // if (atomicAdd(c, 1) == 1) *c = 0;
  Scene s;
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.write(kFar, kFlag, 3);
  EXPECT_EQ(s.found(), "order 1 2");
}
TEST(Observation, OrdersTheObservedStore) {
  Scene s;
  s.store(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.load(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.read(kFar, kFlag, 3);
  s.write(kFar, kFlag, 4);
  EXPECT_EQ(s.found(), "order 1 2");
}
TEST(Observation, OrdersNothingBeforeTheObserved) {
  Scene s;
  s.write(kA, kData, 1);
  s.atomic(kA, kFlag, 2, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 3, kRelaxed, Scope::gpu);
  s.read(kFar, kData, 4);
  EXPECT_EQ(s.found(), "order 2 3, race 1 4");
}
TEST(Observation, OrdersNoOtherLocation) {
  Scene s;
  s.atomic(kA, kFlag + 4, 1, kRelaxed, Scope::gpu);
  s.atomic(kA, kFlag, 2, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 3, kRelaxed, Scope::gpu);
  s.write(kFar, kFlag + 4, 4);
  EXPECT_EQ(s.found(), "order 2 3, race 1 4");
}
TEST(Observation, GoesThroughAChain) {
  Scene s(3);
  s.store(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu, true);
  s.load(kThird, kFlag, 3, kRelaxed, Scope::gpu);
  s.write(kThird, kFlag, 4);
  EXPECT_EQ(s.found(), "order 1 2, order 1 3, order 2 3");
}
TEST(Observation, NotOfAnEarlierStore) { // the observer may have read the later one only
  Scene s(3);
  s.store(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.store(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.load(kThird, kFlag, 3, kRelaxed, Scope::gpu);
  s.write(kThird, kFlag, 4);
  EXPECT_EQ(s.found(), "order 1 2, order 1 3, order 2 3, race 1 4");
}
TEST(Observation, NotOfWhatFollows) {
  Scene s(3);
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.atomic(kThird, kFlag, 3, kRelaxed, Scope::gpu);
  s.write(kFar, kFlag, 4);
  EXPECT_EQ(s.found(), "order 1 2, order 1 3, order 2 3, race 3 4");
}
TEST(Observation, NotOfWhatTheSameLaneDidAfterIt) {
  Scene s;
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.write(kFar, kFlag, 3);
  EXPECT_EQ(s.found(), "order 1 2, race 1 3");
}
TEST(Observation, AWeakReadObservesNothing) {
  Scene s;
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.read(kFar, kFlag, 2);
  s.write(kFar, kFlag, 3);
  EXPECT_EQ(s.found(), "race 1 2, race 1 3");
}
TEST(Observation, AReductionObservesNothing) {
  Scene s;
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu, true);
  s.write(kFar, kFlag, 3);
  EXPECT_EQ(s.found(), "order 1 2, race 1 3");
}
TEST(Observation, NeedsScopesThatCover) {
  Scene s;
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::cta);
  s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.write(kFar, kFlag, 3);
  EXPECT_EQ(s.found(), "race 1 2, race 1 3");
}
TEST(Observation, NeedsOneLocation) {
  Scene s;
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.bytes(8).atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.write(kFar, kFlag, 3);
  EXPECT_EQ(s.found(), "race 1 2, race 1 3");
}
TEST(Observation, APlainWriteBreaksTheChain) {
  Scene s(3);
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.write(kThird, kFlag, 2);
  s.atomic(kFar, kFlag, 3, kRelaxed, Scope::gpu);
  s.write(kFar, kFlag, 4);
  EXPECT_EQ(s.found(), "order 1 3, race 1 2, race 1 4, race 2 3, race 2 4");
}
TEST(Observation, AWholeWarpsPlainWriteBreaksTheChain) {
  Scene s(3);
  s.atomic(kA, kData + 8, 1, kRelaxed, Scope::gpu);
  s.d.affine(Space::global, kThird.agent(), kData, 2, weak_attributes(true, false, 4));
  s.atomic(kFar, kData + 8, 3, kRelaxed, Scope::gpu);
  s.write(kFar, kData + 8, 4);
  EXPECT_EQ(s.found(), "order 1 3, race 1 2, race 1 4, race 2 3, race 2 4");
}
TEST(Observation, OtherLanesLearnByWarpSync) {
  Scene s;
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.d.warp_sync({1, 0}, ~0u);
  s.write({1, 0, 7}, kFlag, 3);
  EXPECT_EQ(s.found(), "order 1 2");
}
TEST(Observation, OtherLanesLearnNothingWithout) {
  Scene s;
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.write({1, 0, 7}, kFlag, 3);
  EXPECT_EQ(s.found(), "order 1 2, race 1 3, race 2 3");
}
TEST(Observation, AFollowingReleasePassesItOn) {
  Scene s(3);
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu);
  s.store(kFar, kData, 3, Order::release, Scope::gpu);
  s.load(kThird, kData, 4, Order::acquire, Scope::gpu);
  s.write(kThird, kFlag, 5);
  EXPECT_EQ(s.found(), "order 1 2, order 3 4");
}
TEST(Observation, AnEarlierReleaseDoesNot) {
  Scene s(3);
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.store(kFar, kData, 2, Order::release, Scope::gpu);
  s.atomic(kFar, kFlag, 3, kRelaxed, Scope::gpu);
  s.load(kThird, kData, 4, Order::acquire, Scope::gpu);
  s.write(kThird, kFlag, 5);
  EXPECT_EQ(s.found(), "order 1 3, order 2 4, race 1 5, race 3 5");
}
TEST(Observation, OfAFailedCompareAndSwapThereIsNone) {
  for (bool wrote : {true, false}) {
    Scene s;
    s.compare_and_swap(kA, kFlag, 1, Scope::gpu, wrote);
    s.atomic(kFar, kFlag, 2, kRelaxed, Scope::gpu);
    s.write(kFar, kFlag, 3);
    EXPECT_EQ(s.found(), wrote ? "order 1 2" : "order 1 2, race 1 3");
  }
}
TEST(Observation, AFailedCompareAndSwapObserves) {
  Scene s;
  s.atomic(kA, kFlag, 1, kRelaxed, Scope::gpu);
  s.compare_and_swap(kFar, kFlag, 2, Scope::gpu, false);
  s.write(kFar, kFlag, 3);
  EXPECT_EQ(s.found(), "order 1 2");
}
TEST(Observation, InSharedMemory) {
  Scene s;
  s.in(Space::shared);
  s.atomic(kA, 64, 1, kRelaxed, Scope::cta);
  s.atomic(kB, 64, 2, kRelaxed, Scope::cta);
  s.write(kB, 64, 3);
  EXPECT_EQ(s.found(), "order 1 2");
  s.atomic({1, 0, 0}, 64, 4, kRelaxed, Scope::cta);
  s.read({1, 1, 0}, 64, 5);
  EXPECT_EQ(s.found(), "order 1 2, race 4 5");
}

} // namespace
} // namespace assay::race::test
