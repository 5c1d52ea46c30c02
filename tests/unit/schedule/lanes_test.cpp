// Parts of one warp: under some seeds of the random policies each of them may be ahead of the
// others.
#include "schedule/policy.hpp"

#include <gtest/gtest.h>

namespace assay::schedule {
namespace {

const std::vector<AgentId> kParts = {{0, 0}, {0, 1}};

TEST(Lanes, PctPutsAnyPartOfAWarpFirst) {
  bool higher = false;
  for (uint64_t seed = 0; seed < 32; ++seed) {
    auto policy = make_policy("pct", seed);
    policy->begin({});
    higher |= policy->pick(kParts, -1).pick == 1;
  }
  EXPECT_TRUE(higher);
}

// Before its first point a warp may part. Who has passed a point on the way there is ahead.
TEST(Lanes, AStepMayEndBeforeTheFirstPoint) {
  for (const char* name : {"random", "pct", "weak-memory", "late-writes"}) {
    bool ends = false, goes_on = false;
    for (uint64_t seed = 0; seed < 32; ++seed) {
      auto policy = make_policy(name, seed);
      policy->begin({});
      const bool none = policy->pick(kParts, -1).points == 0;
      (none ? ends : goes_on) = true;
    }
    EXPECT_TRUE(ends && goes_on) << name;
  }
}

// Nobody is given nothing for ever.
TEST(Lanes, PctGivesPointsToWhoGoesOn) {
  for (uint64_t seed = 0; seed < 32; ++seed) {
    auto policy = make_policy("pct", seed);
    policy->begin({});
    const uint32_t first = policy->pick(kParts, -1).pick;
    const Decision next = policy->pick(kParts, int(first));
    EXPECT_TRUE(next.points > 0 || next.pick != first) << seed;
  }
}

} // namespace
} // namespace assay::schedule
