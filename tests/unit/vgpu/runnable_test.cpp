// The set of runnable agents against std::set, under what a scheduler does with it.
#include "vgpu/runnable.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace assay::vgpu::test {
namespace {

TEST(Runnable, IsASortedSet) {
  Random random(1);
  Runnable runnable;
  std::set<schedule::AgentId> all;
  for (int i = 0; i < 20000; ++i) {
    schedule::AgentId id{random.below(3), random.below(12) * 32};
    const bool front = random.below(2) == 0, grow = random.below(40) > uint32_t(i / 200 % 40);
    if (!all.empty() && (front || !grow)) { // as at a barrier: the first one runs and leaves
      size_t at = front ? 0 : random.below(uint32_t(all.size()));
      id = runnable.start(at);
      ASSERT_EQ(id, *std::next(all.begin(), ptrdiff_t(at)));
      if (!grow) {
        runnable.erase(id);
        all.erase(id);
      }
    } else if (all.insert(id).second) {
      runnable.insert(id);
    }
    ASSERT_EQ(runnable.size(), all.size());
    ASSERT_EQ(runnable.empty(), all.empty());
    ASSERT_TRUE(std::equal(all.begin(), all.end(), runnable.ids().begin(), runnable.ids().end()));
    auto it = all.find(id);
    EXPECT_EQ(runnable.find(id),
              it == all.end() ? all.size() : size_t(std::distance(all.begin(), it)));
  }
}

} // namespace
} // namespace assay::vgpu::test
