// Result and Error: what they carry, and the text form that editors and people read.
#include "base/check.hpp"
#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace assay {
namespace {

Result<int> half(int n) {
  if (n % 2) return usage_error("odd", {"f.ptx", 3, 5});
  return n / 2;
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_TRUE(half(4).ok());
  EXPECT_EQ(*half(4), 2);
  EXPECT_FALSE(half(3));
  EXPECT_EQ(half(3).error().code, ErrorCode::usage);
}

TEST(Result, MovesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  std::unique_ptr<int> taken = std::move(*result);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, OfNothing) {
  EXPECT_TRUE(Result<void>().ok());
  Result<void> bad = unsupported("frob.u32");
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().code, ErrorCode::unsupported);
  EXPECT_EQ(bad.error().message, "unsupported frob.u32");
}

TEST(Error, TextHasThePlaceFirstAndNotesBelow) {
  Error error = usage_error("no such entry", {"k.ptx", 12, 7});
  EXPECT_EQ(error.text(), "k.ptx:12:7: no such entry");
  error.span.column = 0;
  EXPECT_EQ(error.text(), "k.ptx:12: no such entry");
  error.notes = {"entries: a, b"};
  EXPECT_EQ(error.text(), "k.ptx:12: no such entry\n  note: entries: a, b");
  EXPECT_EQ(usage_error("no file").text(), "no file");
}

TEST(Check, AFailedCheckEndsTheProcessWithCode2) {
  CHECK(1 + 1 == 2);
  EXPECT_EXIT(CHECK(1 + 1 == 3), testing::ExitedWithCode(2), "CHECK\\(1 \\+ 1 == 3\\) failed");
}

} // namespace
} // namespace assay
