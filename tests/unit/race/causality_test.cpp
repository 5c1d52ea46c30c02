// Each row of the causality table of docs/concurrency.md §1, beside a twin that lacks the edge.
#include "scene.hpp"

namespace assay::race::test {
namespace {

using Order = Detector::Order;
using Fence = Detector::Fence;
constexpr Lane kA{0, 0, 0}, kB{0, 1, 5}, kFar{1, 0, 0};

// (a)
TEST(ProgramOrder, OrdersOneLane) {
  Scene s;
  s.write(kA, kData, 1);
  s.read(kA, kData, 2);
  s.write(kA, kData, 3);
  EXPECT_EQ(s.found(), "");
}
TEST(ProgramOrder, DoesNotOrderItsWarp) {
  Scene s;
  s.write({0, 0, 0}, kData, 1);
  s.read({0, 0, 1}, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(ProgramOrder, LockstepOrdersNothing) { // a[l] = …; … = a[l + 1] without bar.warp.sync
  Scene s;
  s.in(Space::shared);
  s.d.affine(Space::shared, {0, 0}, 0, 1, weak_attributes(true, false, 4));
  s.d.affine(Space::shared, {0, 0}, 4, 2, weak_attributes(false, false, 4));
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(ProgramOrder, LanesKeepTheirOwnWords) {
  Scene s;
  s.d.affine(Space::shared, {0, 0}, 256, 1, weak_attributes(true, false, 4));
  s.d.affine(Space::shared, {0, 0}, 256, 2, weak_attributes(false, false, 4));
  s.in(Space::shared).read({0, 0, 7}, 256 + 28, 3);
  EXPECT_EQ(s.found(), "");
  s.read({0, 0, 7}, 256 + 32, 4);
  EXPECT_EQ(s.found(), "race 1 4");
}

// (b)
TEST(Barrier, OrdersWhoWaits) {
  Scene s;
  s.write(kA, kData, 1);
  s.barrier_all(0);
  s.read(kB, kData, 2);
  EXPECT_EQ(s.found(), "");
}
TEST(Barrier, MissingOneRaces) {
  Scene s;
  s.write(kA, kData, 1);
  s.read(kB, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(Barrier, OfAnotherCtaOrdersNothing) {
  Scene s;
  s.write(kA, kData, 1);
  s.barrier_all(0);
  s.barrier_all(1);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(Barrier, OrdersOnlyWhatCameBefore) {
  Scene s;
  s.barrier_all(0);
  s.write(kA, kData, 1);
  s.read(kB, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(Barrier, NamedOrdersItsParticipantsAlone) {
  Scene s;
  s.write(kA, kData, 1);
  s.barrier(0, {0, 1});
  s.read(kB, kData, 2);
  EXPECT_EQ(s.found(), "");
  s.read({0, 2, 0}, kData, 3);
  EXPECT_EQ(s.found(), "race 1 3");
}
TEST(Barrier, ChainsThroughNamedOnes) {
  Scene s;
  s.write(kA, kData, 1);
  s.barrier(0, {0, 1});
  s.barrier(0, {1, 2});
  s.read({0, 2, 0}, kData, 3);
  EXPECT_EQ(s.found(), "");
}
TEST(Barrier, ArrivingReleases) {
  Scene s;
  s.write(kA, kData, 1);
  s.barrier(0, {1}, {0});
  s.read(kB, kData, 2);
  EXPECT_EQ(s.found(), "");
}
TEST(Barrier, ArrivingAcquiresNothing) {
  Scene s;
  s.write(kB, kData, 1);
  s.barrier(0, {1}, {0});
  s.read(kA, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(Barrier, ArrivalCoversNothingLater) {
  Scene s;
  s.barrier(0, {1}, {0});
  s.write(kA, kData, 1);
  s.read(kB, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(Barrier, ExitCountsAsArrival) {
  for (bool counts : {true, false}) {
    Scene s;
    s.write(kA, kData, 1);
    s.d.exited({0, 0}, ~0u);
    auto p = s.phase(0);
    p.arrived[1] = p.acquiring[1] = p.arrived[2] = p.acquiring[2] = ~0u;
    if (counts) p.exited[0] = ~0u;
    s.d.barrier(p);
    s.read(kB, kData, 2);
    EXPECT_EQ(s.found(), counts ? "" : "race 1 2");
  }
}
TEST(Barrier, PartOfAWarp) {
  Scene s;
  s.write({0, 0, 3}, kData, 1);
  auto p = s.phase(0);
  p.arrived[0] = p.acquiring[0] = 0xff;
  p.arrived[1] = p.acquiring[1] = 0xff;
  s.d.barrier(p);
  s.read({0, 1, 7}, kData, 2);
  EXPECT_EQ(s.found(), "");
  s.read({0, 1, 8}, kData, 3);
  EXPECT_EQ(s.found(), "race 1 3");
}
TEST(Barrier, LastWarpMayBeNarrow) {
  Scene s(1, 2, 7);
  s.write(kA, kData, 1);
  s.barrier_all(0);
  s.read({0, 1, 6}, kData, 2);
  EXPECT_EQ(s.found(), "");
}

// (c)
TEST(WarpSync, OrdersItsMask) {
  Scene s;
  s.write({0, 0, 0}, kData, 1);
  s.d.warp_sync({0, 0}, ~0u);
  s.read({0, 0, 1}, kData, 2);
  EXPECT_EQ(s.found(), "");
  s.read(kB, kData, 3);
  EXPECT_EQ(s.found(), "race 1 3");
}
TEST(WarpSync, NotTheLanesOutside) {
  Scene s;
  s.write({0, 0, 0}, kData, 1);
  s.d.warp_sync({0, 0}, 0xffff);
  s.read({0, 0, 15}, kData, 2);
  EXPECT_EQ(s.found(), "");
  s.read({0, 0, 16}, kData, 3);
  EXPECT_EQ(s.found(), "race 1 3");
}
TEST(WarpSync, HandsOnWhatALaneAcquired) {
  Scene s;
  s.write(kFar, kData, 1);
  s.store(kFar, kFlag, 10, Order::release, Scope::gpu);
  s.load({0, 0, 4}, kFlag, 11, Order::acquire, Scope::gpu);
  s.d.warp_sync({0, 0}, ~0u);
  s.read({0, 0, 9}, kData, 2);
  EXPECT_EQ(s.found(), "order 10 11");
}

// (d)
void message(Scene& s, Order release, Scope at, Order acquire, Scope to, Lane from = kA,
             Lane reader = kFar) {
  s.write(from, kData, 1);
  s.store(from, kFlag, 10, release, at);
  s.load(reader, kFlag, 11, acquire, to);
  s.read(reader, kData, 2);
}
TEST(Release, ToAcquire) {
  Scene s;
  message(s, Order::release, Scope::gpu, Order::acquire, Scope::sys);
  EXPECT_EQ(s.found(), "order 10 11");
}
TEST(Release, RelaxedOnEitherSideOrdersNothing) {
  Scene s, t;
  message(s, Order::relaxed, Scope::gpu, Order::acquire, Scope::gpu);
  EXPECT_EQ(s.found(), "order 10 11, race 1 2");
  message(t, Order::release, Scope::gpu, Order::relaxed, Scope::gpu);
  EXPECT_EQ(t.found(), "order 10 11, race 1 2");
}
TEST(Release, CtaScopeReachesTheCtaOnly) {
  Scene s, t;
  message(s, Order::release, Scope::cta, Order::acquire, Scope::gpu);
  EXPECT_EQ(s.found(), "race 1 2, race 10 11");
  message(t, Order::release, Scope::cta, Order::acquire, Scope::gpu, kA, kB);
  EXPECT_EQ(t.found(), "order 10 11");
}
TEST(Release, CoversNothingLater) {
  Scene s;
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.write(kA, kData, 1);
  s.load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "order 10 11, race 1 2");
}
TEST(Release, WeakPollingAcquiresNothing) {
  Scene s;
  s.write(kA, kData, 1);
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.read(kFar, kFlag, 11);
  s.fence(kFar, Fence::acq_rel, Scope::gpu);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2, race 10 11");
}
TEST(Release, OfAnotherSizeIsNoMessage) {
  Scene s;
  s.write(kA, kData, 1);
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.bytes(8).load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
  s.bytes(4).read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2, race 10 11");
}
TEST(Release, ByFences) {
  for (bool first : {true, false})
    for (bool second : {true, false}) {
      Scene s;
      s.write(kA, kData, 1);
      if (first) s.fence(kA, Fence::release, Scope::gpu);
      s.store(kA, kFlag, 10, Order::relaxed, Scope::gpu);
      s.load(kFar, kFlag, 11, Order::relaxed, Scope::gpu);
      if (second) s.fence(kFar, Fence::acquire, Scope::gpu);
      s.read(kFar, kData, 2);
      EXPECT_EQ(s.found(), first && second ? "order 10 11" : "order 10 11, race 1 2");
    }
}
TEST(Release, FenceOfCtaScopeIsTooNarrow) {
  for (auto [a, b] : {std::pair{Scope::cta, Scope::gpu}, {Scope::gpu, Scope::cta}}) {
    Scene s;
    s.write(kA, kData, 1);
    s.fence(kA, Fence::acq_rel, a);
    s.store(kA, kFlag, 10, Order::relaxed, Scope::gpu);
    s.load(kFar, kFlag, 11, Order::relaxed, Scope::gpu);
    s.fence(kFar, Fence::acq_rel, b);
    s.read(kFar, kData, 2);
    EXPECT_EQ(s.found(), "order 10 11, race 1 2");
  }
}
TEST(Release, NarrowFenceLeavesTheRestToAWiderOne) {
  Scene s;
  s.write(kA, kData, 1);
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.load(kFar, kFlag, 11, Order::relaxed, Scope::gpu);
  s.fence(kFar, Fence::acq_rel, Scope::cta);
  s.read(kFar, kData, 2);
  s.fence(kFar, Fence::acq_rel, Scope::gpu);
  s.read(kFar, kData, 3);
  EXPECT_EQ(s.found(), "order 10 11, race 1 2");
}
TEST(Release, FenceAloneOrdersNothing) {
  Scene s;
  s.write(kA, kData, 1);
  s.fence(kA, Fence::acq_rel, Scope::gpu);
  s.fence(kFar, Fence::acq_rel, Scope::gpu);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(Release, GoesOnThroughReadModifyWrites) {
  Scene s(3);
  s.write(kA, kData, 1);
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.atomic({2, 0, 0}, kFlag, 12, Order::relaxed, Scope::gpu, true);
  s.load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "order 10 11, order 10 12, order 11 12");
}
TEST(Release, EndsAtAnotherWrite) {
  Scene s(3);
  s.write(kA, kData, 1);
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.store({2, 0, 0}, kFlag, 12, Order::relaxed, Scope::gpu);
  s.load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "order 10 11, order 10 12, order 11 12, race 1 2");
}
TEST(Release, EndsAtAWeakWrite) {
  Scene s;
  s.write(kA, kData, 1);
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.write(kA, kFlag, 12);
  s.load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "order 10 11, race 1 2, race 11 12");
}
TEST(Release, EndsAtAnAtomicOutOfScope) {
  Scene s(3);
  s.write(kA, kData, 1);
  s.store(kA, kFlag, 10, Order::release, Scope::gpu);
  s.atomic({2, 0, 0}, kFlag, 12, Order::relaxed, Scope::cta);
  s.load(kFar, kFlag, 11, Order::acquire, Scope::gpu);
  s.read(kFar, kData, 2);
  EXPECT_EQ(s.found(), "order 10 11, race 1 2, race 10 12, race 11 12");
}
TEST(Release, ReductionsNeverAcquire) {
  for (bool reduction : {true, false}) {
    Scene s;
    s.write(kA, kData, 1);
    s.atomic(kA, kFlag, 10, Order::release, Scope::gpu, true);
    s.atomic(kFar, kFlag, 11, Order::acq_rel, Scope::gpu, reduction);
    s.fence(kFar, Fence::acq_rel, Scope::gpu);
    s.read(kFar, kData, 2);
    EXPECT_EQ(s.found(), reduction ? "order 10 11, race 1 2" : "order 10 11");
  }
}
// __syncthreads(); if (thread 0) { __threadfence(); atomicAdd(…); }
TEST(Release, IsCumulative) {
  for (bool barrier : {true, false}) {
    Scene s;
    s.write({0, 2, 31}, kData, 1);
    if (barrier) s.barrier_all(0);
    s.fence(kA, Fence::acq_rel, Scope::gpu);
    s.atomic(kA, kFlag, 10, Order::relaxed, Scope::gpu);
    s.atomic(kFar, kFlag, 10, Order::relaxed, Scope::gpu);
    s.fence(kFar, Fence::acq_rel, Scope::gpu);
    s.barrier_all(1);
    s.read({1, 1, 1}, kData, 2);
    EXPECT_EQ(s.found(), barrier ? "order 10 10" : "order 10 10, race 1 2");
  }
}
TEST(Release, LanesOfOneAtomicInheritNothing) {
  Scene s;
  s.write({0, 0, 0}, kData, 1);
  AccessInfo i = s.info(10, true);
  i.atomic = i.read = i.strong = true;
  i.scope = Scope::gpu;
  std::array<uint64_t, 32> address;
  address.fill(kFlag);
  s.d.access(Space::global, {0, 0}, 3, address.data(), i, nullptr, 0, 0);
  for (uint32_t l : {0u, 1u})
    s.d.read_modify_write(Space::global, {0, 0}, l, kFlag, 4, Order::relaxed, Scope::gpu, false);
  s.read({0, 0, 1}, kData, 2);
  EXPECT_EQ(s.found(), "order 10 10, race 1 2");
}

// (e)
TEST(FenceSc, OrdersPairsInScope) {
  struct {
    Fence fence;
    Scope a, b;
    Lane reader;
    bool ordered;
  } cases[] = {{Fence::sc, Scope::gpu, Scope::gpu, kFar, true},
               {Fence::sc, Scope::cta, Scope::gpu, kFar, false},
               {Fence::sc, Scope::gpu, Scope::cta, kFar, false},
               {Fence::sc, Scope::cta, Scope::cta, kB, true},
               {Fence::acq_rel, Scope::gpu, Scope::gpu, kFar, false}};
  for (auto& c : cases) {
    Scene s;
    s.write(kA, kData, 1);
    s.fence(kA, c.fence, c.a);
    s.fence(c.reader, c.fence, c.b);
    s.read(c.reader, kData, 2);
    EXPECT_EQ(s.found(), c.ordered ? "" : "race 1 2");
  }
}

// cp.async
struct Copy {
  Scene& s;
  Lane issuer;
  uint32_t number;
  Copy(Scene& scene, Lane l, uint32_t n = 0)
      : s(scene), issuer(l), number(kCopyAgent + n * 32 + l.lane) {
    s.d.copy_issue(l.agent(), l.lane, number);
  }
  void write(uint64_t to, uint32_t pc) {
    s.in(Space::shared).write({issuer.cta, number, issuer.lane}, to, pc);
  }
  void wait(Lane l) { s.d.copy_joined(l.agent(), l.lane, number); }
};
TEST(AsyncCopy, StartsAfterItsIssuer) {
  Scene s;
  s.in(Space::shared).read(kA, 64, 1);
  Copy c(s, kA);
  c.write(64, 2);
  EXPECT_EQ(s.found(), "");
}
TEST(AsyncCopy, RunsBesideItsIssuer) {
  Scene s;
  Copy c(s, kA);
  s.in(Space::shared).read(kA, 64, 1);
  c.write(64, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(AsyncCopy, WaitJoinsTheWaiterOnly) {
  Scene s;
  Copy c(s, kA);
  c.write(64, 2);
  c.wait(kA);
  s.read(kA, 64, 1);
  EXPECT_EQ(s.found(), "");
  s.read({0, 0, 1}, 64, 3);
  EXPECT_EQ(s.found(), "race 2 3");
}
TEST(AsyncCopy, BarrierAfterTheWait) {
  for (bool wait : {true, false}) {
    Scene s;
    Copy c(s, kA);
    c.write(64, 2);
    if (wait) c.wait(kA);
    s.barrier_all(0);
    s.read(kB, 64, 1);
    EXPECT_EQ(s.found(), wait ? "" : "race 1 2"); // bar.sync waits for nothing asynchronous
  }
}
TEST(AsyncCopy, KnowsNothingOfBarriersAfterItsIssue) {
  Scene s;
  s.in(Space::shared).read(kB, 64, 1);
  Copy c(s, kA);
  s.barrier_all(0);
  c.write(64, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}

TEST(AsyncCopy,
     TwoStagesInFlight) { // the buffer that a copy fills was read in the copy's own phase
  for (bool barrier : {false, true}) {
    Scene s;
    Copy early(s, kA);
    early.write(0, 3);
    s.barrier_all(0);
    s.in(Space::shared).read(kB, 64, 1);
    if (barrier) s.barrier_all(0);
    Copy late(s, kA, 1);
    early.wait(kA);
    s.barrier_all(0);
    late.write(64, 2);
    EXPECT_EQ(s.found(), barrier ? "" : "race 1 2");
  }
}

// (h)
TEST(Launch, EndsEveryConflict) {
  Scene first, second;
  first.write(kA, kData, 1);
  second.read(kFar, kData, 2);
  EXPECT_EQ(second.found(), "");
}

} // namespace
} // namespace assay::race::test
