// The order in which CTAs are admitted: in turn, but for those that a policy takes out of it.
#include "vgpu/admission.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace assay::vgpu {
namespace {

TEST(Admission, InTurnWhereNobodyChooses) {
  Admission waiting(5);
  for (uint32_t i = 0; i < 5; ++i) EXPECT_EQ(waiting.take(0), i);
  EXPECT_TRUE(waiting.empty());
}

// Against a list that holds every waiting CTA: the first takes the place of the one that is taken,
// and the last goes without anybody moving.
TEST(Admission, LikeAListOfAll) {
  Random random(7);
  for (uint32_t ctas = 1; ctas < 40; ++ctas) {
    Admission waiting(ctas);
    std::vector<uint32_t> list(ctas);
    for (uint32_t i = 0; i < ctas; ++i) list[i] = i;
    while (!list.empty()) {
      ASSERT_EQ(waiting.left(), list.size());
      uint32_t k = random.below(3) ? random.below(uint32_t(list.size())) : 0, want = list[k];
      if (k + 1 == list.size() && k) {
        list.pop_back();
      } else {
        list[k] = list[0];
        list.erase(list.begin());
      }
      ASSERT_EQ(waiting.take(k), want);
    }
    EXPECT_TRUE(waiting.empty());
  }
}

} // namespace
} // namespace assay::vgpu
