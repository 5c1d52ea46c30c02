// Release and acquire patterns whose two operations on the location are apart (PTX ISA 9.0, 8.8).
#include "scene.hpp"

namespace assay::race::test {
namespace {

using Order = Detector::Order;
constexpr Lane kA{0, 0, 0}, kB{0, 1, 5}, kFar{1, 0, 0};

// A release operation and a strong write on its location, by one thread.
TEST(Patterns, ReleaseGoesOnInItsThreadsStrongWrites) {
  for (uint64_t where : {kFlag, kFlag + 4})
    for (Lane again : {kA, kB})
      for (Scope at : {Scope::gpu, Scope::cta}) {
        Scene s;
        s.write(kA, kData, 1);
        s.store(kA, where, 10, Order::release, at);
        s.write(kA, kData + 4, 3); // behind the pattern's first operation
        s.store(again, kFlag, 12, Order::relaxed, Scope::gpu);
        s.load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
        s.read(kFar, kData, 2);
        s.read(kFar, kData + 4, 4);
        const bool pattern = where == kFlag && again == kA && at == Scope::gpu;
        EXPECT_EQ(s.found().find("race 1 2") == std::string::npos, pattern);
        EXPECT_NE(s.found().find("race 3 4"), std::string::npos);
      }
}
TEST(Patterns, ReleaseOfAWiderScopeStaysBehindANarrowOne) {
  Scene s;
  s.write(kA, kData, 1);
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.write(kA, kData + 4, 3);
  s.atomic(kA, kFlag, 12, Order::release, Scope::cta);
  s.store(kA, kFlag, 13, Order::relaxed, Scope::gpu);
  s.load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
  s.read(kFar, kData, 2);
  s.read(kFar, kData + 4, 4);
  EXPECT_EQ(s.found(), "order 10 11, order 11 13, race 11 12, race 3 4");
}
// A compare-and-swap that fails writes nothing that could be observed, and breaks no chain.
TEST(Patterns, ReleaseOfAFailedCompareAndSwapGoesOnOnly) {
  for (bool wrote : {true, false})
    for (bool again : {true, false}) {
      Scene s;
      s.write(kA, kData, 1);
      s.compare_and_swap(kA, kFlag, 10, Scope::gpu, wrote, Order::release);
      if (again) s.store(kA, kFlag, 12, Order::relaxed, Scope::gpu);
      s.load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
      s.read(kFar, kData, 2);
      EXPECT_EQ(s.found().find("race") == std::string::npos, wrote || again);
    }
}
TEST(Patterns, ReleaseOutlivesAFailedCompareAndSwap) {
  Scene s(3);
  s.write(kA, kData, 1);
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.compare_and_swap({2, 0, 0}, kFlag, 12, Scope::cta, false);
  s.load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "order 10 11, race 10 12, race 11 12");
}
// And the mirror: a strong read, then an acquire operation on its location by the same thread.
TEST(Patterns, ReleaseIsTakenByALaterAcquireOfItsLocation) {
  for (uint64_t where : {kFlag, kFlag + 4})
    for (Lane later : {kFar, Lane{1, 0, 1}})
      for (Scope to : {Scope::gpu, Scope::cta})
        for (Order first : {Order::relaxed, Order::acquire}) {
          Scene s(3);
          s.write(kA, kData, 1);
          s.store(kA, kFlag, 10, Order::release, Scope::gpu);
          s.load(kFar, kFlag, 11, Order::relaxed, Scope::gpu);
          s.store({2, 0, 0}, kFlag, 12, Order::relaxed, Scope::gpu); // ends what is there to read
          s.load(later, where, 13, first == Order::relaxed ? Order::acquire : Order::relaxed, to);
          s.read(later, kData, 2);
          const bool pattern =
              where == kFlag && later == kFar && to == Scope::gpu && first == Order::relaxed;
          EXPECT_EQ(s.found().find("race 1 2") == std::string::npos, pattern);
        }
}
TEST(Patterns, ReleaseIsTakenOfManyLocations) { // of the last ones that were read
  for (uint32_t count : {3u, 40u}) {
    Scene s(3);
    s.write(kA, kData, 1);
    for (uint32_t i = 0; i < count; ++i) {
      s.store(kA, kFlag + 4 * i, 10, Order::release, Scope::gpu);
      s.load(kFar, kFlag + 4 * i, 11, Order::relaxed, Scope::gpu);
      s.store({2, 0, 0}, kFlag + 4 * i, 12, Order::relaxed, Scope::gpu);
    }
    s.load(kFar, kFlag + 4 * (count - 2), 13, Order::acquire, Scope::gpu);
    s.read(kFar, kData, 2);
    EXPECT_EQ(s.found().find("race"), std::string::npos);
  }
}

} // namespace
} // namespace assay::race::test
