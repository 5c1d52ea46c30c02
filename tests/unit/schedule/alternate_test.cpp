// The policy `alternate`: one step each, up and down again, nobody left out.
#include "schedule/policy.hpp"

#include <gtest/gtest.h>

#include <map>

namespace assay::schedule {
namespace {

std::vector<uint32_t> order_of(uint64_t seed, size_t picks) {
  std::vector<AgentId> runnable = {{0, 0}, {1, 0}, {2, 0}};
  auto policy = make_policy("alternate", seed);
  policy->begin({});
  std::vector<uint32_t> out;
  int last = -1;
  for (size_t i = 0; i < picks; ++i) {
    Decision d = policy->pick(runnable, last);
    EXPECT_EQ(d.points, 1u);
    last = int(d.pick);
    out.push_back(runnable[d.pick].cta);
  }
  return out;
}

TEST(Alternate, GoesUpAndDownAgain) {
  EXPECT_EQ(order_of(1, 9), (std::vector<uint32_t>{0, 1, 2, 2, 1, 0, 0, 1, 2}));
  EXPECT_EQ(order_of(2, 9), (std::vector<uint32_t>{2, 1, 0, 0, 1, 2, 2, 1, 0}));
}

TEST(Alternate, LeavesNobodyOutWhenTheListChanges) {
  auto policy = make_policy("alternate", 1);
  policy->begin({});
  std::map<uint32_t, int> picked;
  for (int i = 0; i < 60; ++i) {
    std::vector<AgentId> runnable = {{0, 0}, {2, 0}};
    if (i % 5) runnable.insert(runnable.begin() + 1, {1, 0});
    ++picked[runnable[policy->pick(runnable, -1).pick].cta];
  }
  for (uint32_t cta = 0; cta < 3; ++cta) EXPECT_GE(picked[cta], 5) << cta;
}

} // namespace
} // namespace assay::schedule
