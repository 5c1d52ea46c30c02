// Patterns of names in suppressions.
#include "cases/suppressions.hpp"

#include <gtest/gtest.h>

namespace assay::cases {
namespace {

TEST(Suppressions, PatternsOfNames) {
  EXPECT_TRUE(fits("count", "count"));
  EXPECT_FALSE(fits("count", "counts"));
  EXPECT_TRUE(fits("count_*", "count_words"));
  EXPECT_TRUE(fits("*", ""));
  EXPECT_TRUE(fits("a*c*e", "abcde"));
  EXPECT_FALSE(fits("a*c*e", "abcdef"));
  EXPECT_FALSE(fits("", "a"));
  // Many stars are no reason to take for ever.
  EXPECT_FALSE(fits("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(200, 'a')));
}

} // namespace
} // namespace assay::cases
