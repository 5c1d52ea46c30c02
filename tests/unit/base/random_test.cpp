// Random numbers: any element alone equals the same element of the stream, streams differ, and the
// bounded draw is uniform enough that a broken one shows.
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace assay {
namespace {

TEST(Random, AnElementAloneEqualsTheStream) {
  Random stream(42, 7);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(stream.next(), random_at(42, 7, i));
}

// splitmix64 with seed 0 starts with this number (Steele, Lea, Flood 2014, reference generator).
TEST(Random, MixingIsSplitmix64) { EXPECT_EQ(mix64(0), 0xe220a8397b1dcdafull); }

TEST(Random, SeedsStreamsAndCountersGiveDistinctNumbers) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (uint64_t stream = 0; stream < 10; ++stream)
      for (uint64_t counter = 0; counter < 100; ++counter)
        seen.insert(random_at(seed, stream, counter));
  EXPECT_EQ(seen.size(), 10'000u);
}

TEST(Random, BelowStaysInRangeAndReachesEveryValue) {
  Random random(1);
  std::array<int, 10> counts{};
  for (int i = 0; i < 10'000; ++i) ++counts.at(random.below(10));
  for (int count : counts) {
    EXPECT_GT(count, 800); // 1000 expected, standard deviation 30
    EXPECT_LT(count, 1200);
  }
}

} // namespace
} // namespace assay
