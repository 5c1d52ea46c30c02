// The detector against the reference over random histories: the same conflicts, no more, no fewer.
#include "history.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace assay::race::test {
namespace {

std::string list(const std::set<Key>& keys) {
  std::string s;
  for (auto& [kind, a, b, space, distance] : keys)
    s += fmt::format("  kind {} pcs {} {} space {} distance {}\n", kind, a, b, space, distance);
  return s;
}

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value ? std::strtoull(value, nullptr, 0) : otherwise;
}

void compare(uint64_t first, uint64_t count, uint32_t steps) {
  size_t conflicts = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    History h = Generator(seed).make(steps + uint32_t(seed % steps));
    auto differs = [](const History& x) { return x.by_detector() != x.by_reference(); };
    if (!differs(h)) {
      conflicts += h.by_detector().size();
      continue;
    }
    h = shrink(h, differs);
    FAIL() << "seed " << seed << ": " << h.shape.ctas << " CTAs of " << h.shape.warps_per_cta
           << " warps, last of " << h.shape.lanes_of_last_warp << "\n"
           << h.text() << "detector:\n"
           << list(h.by_detector()) << "reference:\n"
           << list(h.by_reference());
  }
  EXPECT_GT(conflicts, count); // the histories are worth comparing
}

TEST(Differential, ShortHistories) { compare(from_environment("ASSAY_SEED", 1), 20000, 12); }
TEST(Differential, LongHistories) { compare(from_environment("ASSAY_SEED", 100000), 2000, 60); }

} // namespace
} // namespace assay::race::test
