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

// Two CTAs take turns at their barriers and nobody ever waits for all: the places of those that
// left are used again.
TEST(Runnable, NeedsNoMoreRoomAsTimeGoesBy) {
  Runnable runnable;
  for (uint32_t i = 0; i < 16; ++i) runnable.insert({i / 8, i % 8 * 32});
  for (uint32_t phase = 0; phase < 1000; ++phase) {
    uint32_t cta = phase % 2;
    for (uint32_t i = 0; i < 8; ++i) runnable.erase(runnable.start(cta * 8));
    for (uint32_t i = 0; i < 8; ++i) runnable.insert({cta, i * 32});
  }
  EXPECT_LE(runnable.room(), 32u);
  // CTAs that end, and others that begin.
  for (uint32_t i = 0; i < 1000; ++i) {
    runnable.erase(runnable.start(0));
    runnable.insert({2 + i, 0});
  }
  EXPECT_LE(runnable.room(), 64u);
}

} // namespace
} // namespace assay::vgpu::test
