// Elements of strong vectors: operations of their own (PTX ISA 9.0, 8.2.4), and what reads of them
// may find.
#include "scene.hpp"

#include <fmt/format.h>

namespace assay::race::test {
namespace {

using Order = Detector::Order;
constexpr Lane kA{0, 0, 0}, kFar{1, 0, 0};

TEST(Vectors, MeetScalarsOfTheirElements) {
  for (uint8_t elements : {1, 2, 4})
    for (uint32_t offset : {0u, 4u, 8u, 12u}) {
      Scene s;
      s.bytes(16).elements(elements).store(kA, kData, 1, Order::relaxed, Scope::gpu);
      s.bytes(4).elements(1).load(kFar, kData + offset, 2, Order::relaxed, Scope::gpu);
      EXPECT_EQ(s.found(), elements == 4 ? "order 1 2" : "race 1 2");
    }
}
TEST(Vectors, MeetWeakAccessesInRaces) {
  Scene s;
  s.bytes(8).elements(2).store(kA, kData, 1, Order::relaxed, Scope::gpu);
  s.bytes(4).elements(1).read(kFar, kData + 4, 2);
  EXPECT_EQ(s.found(), "race 1 2");
}
TEST(Vectors, AreObservedElementByElement) {
  for (auto [written, order] :
       {std::pair{4u, Order::relaxed}, {4u, Order::release}, {8u, Order::relaxed}}) {
    Scene s;
    s.bytes(8).elements(2).store(kA, kData, 1, order, Scope::gpu);
    s.bytes(4).elements(1).load(kFar, kData + 4, 2, Order::relaxed, Scope::gpu);
    s.bytes(uint8_t(written)).write(kFar, kData + 8 - written, 3);
    EXPECT_EQ(s.found(), written == 4 ? "order 1 2" : "order 1 2, race 1 3");
  }
}
TEST(Vectors, ReleaseAndAcquireElementByElement) {
  for (uint32_t offset : {0u, 4u}) {
    Scene s;
    s.bytes(4).write(kA, kData, 1);
    s.bytes(8).elements(2).store(kA, kFlag, 10, Order::release, Scope::gpu);
    s.bytes(4).elements(1).load(kFar, kFlag + offset, 11, Order::acquire, Scope::gpu);
    s.read(kFar, kData, 2);
    EXPECT_EQ(s.found(), "order 10 11");
  }
}

// -- runs whose reads may miss writes -----------------------------------------------------------
class Missing : public Scene {
public:
  Missing() : Scene(3, 1, 32, with_versions()) {}
  static Limits with_versions() {
    Limits limits;
    limits.versions = true;
    return limits;
  }
  // A store of `bytes` in elements of four, where all words have been `before`.
  void put(Lane l, uint64_t address, uint8_t n, uint32_t before) {
    std::array<uint32_t, 8> old;
    old.fill(before);
    bytes(n).elements(n / 4);
    d.elements(n / 4);
    d.replacing(Space::global, l.agent(), l.lane, address, n, old.data());
    store(l, address, 1, Order::relaxed, Scope::gpu);
  }
  // What a vector of two words may find where both are `now`: "12 11".
  std::string may_find(Lane l, uint32_t a, uint32_t b) {
    std::string all;
    d.elements(2);
    const uint32_t n = d.missable(Space::global, l.agent(), l.lane, kData, 8);
    for (uint32_t back = 1; back <= n; ++back) {
      std::array<uint32_t, 2> words{a, b};
      d.missed(Space::global, l.agent(), kData, 8, back, reinterpret_cast<uint8_t*>(words.data()));
      all += fmt::format("{}{}{}", back > 1 ? " " : "", words[0], words[1]);
    }
    return all;
  }
};

TEST(Vectors, OfOneStoreAreFoundWhole) {
  Missing s;
  s.put(kA, kData, 8, 0);
  s.put(kA, kData, 8, 1);
  EXPECT_EQ(s.may_find(kFar, 2, 2), "11 00");
  EXPECT_EQ(s.may_find(kA, 2, 2), "");
}
TEST(Vectors, OfScalarStoresAreFoundInAnyWay) {
  Missing s;
  s.put(kA, kData, 4, 0);
  s.put(kA, kData + 4, 4, 0);
  EXPECT_EQ(s.may_find(kFar, 1, 1), "10 01 00");
}
TEST(Vectors, MissNoElementThatTheyKnow) {
  Missing s;
  s.put(kA, kData, 4, 0);
  s.put(kA, kData + 4, 4, 0);
  s.bytes(4).elements(1).load(kFar, kData + 4, 2, Order::relaxed, Scope::gpu); // sees the second
  EXPECT_EQ(s.may_find(kFar, 1, 1), "01");
  s.put(kA, kData, 8, 1); // both to 2
  s.bytes(4).elements(1).load(kFar, kData, 2, Order::relaxed, Scope::gpu);
  EXPECT_EQ(s.may_find(kFar, 2, 2), "");
}
TEST(Vectors, AScalarStoreInBetweenIsAStateOfItsOwn) {
  Missing s;
  s.put(kA, kData, 8, 0);
  s.put(kA, kData, 4, 1); // 21
  EXPECT_EQ(s.may_find(kFar, 2, 1), "11 00");
}
TEST(Vectors, AcquireWhatTheirOlderElementsHold) {
  for (bool miss : {false, true}) {
    Missing s;
    s.bytes(4).write(kA, kData + 64, 3);
    s.put({2, 0, 0}, kData, 8, 0);
    s.d.elements(2);
    std::array<uint32_t, 2> ones{1, 1};
    s.d.replacing(Space::global, kA.agent(), kA.lane, kData, 8, ones.data());
    s.bytes(8).elements(2).store(kA, kData, 4, Order::release, Scope::gpu);
    s.d.elements(2);
    if (miss)
      s.d.missing_read(Space::global, kFar.agent(), kFar.lane, kData, 8, Order::acquire, Scope::gpu,
                       1);
    else
      s.d.strong_read(Space::global, kFar.agent(), kFar.lane, kData, 8, Order::acquire, Scope::gpu);
    s.bytes(4).elements(1).read(kFar, kData + 64, 5);
    EXPECT_EQ(s.found().find("race 3 5") != std::string::npos, miss);
  }
}

} // namespace
} // namespace assay::race::test
