// Nearest words, lines, and files that are written whole.
#include "base/file.hpp"
#include "base/text.hpp"

#include <filesystem>
#include <gtest/gtest.h>

using namespace assay;

TEST(Text, NearestWordIsSimilarOrNothing) {
  std::vector<std::string> keys = {"kernel", "launch", "shape", "variants"};
  EXPECT_EQ(nearest("lanch", keys), "launch");
  EXPECT_EQ(nearest("shapes", keys), "shape");
  EXPECT_EQ(nearest("zzz", keys), "");
  EXPECT_EQ(did_you_mean("kernal", keys), "; did you mean 'kernel'?");
  EXPECT_EQ(edit_distance("abc", "acbd"), 2u);
  EXPECT_EQ(edit_distance("check", "chekc"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(nearest("chekc", {"check"}), "check");
}

TEST(Text, LinesLoseTheirEnds) {
  EXPECT_EQ(split_lines("a\r\nb\n\nc"), (std::vector<std::string>{"a", "b", "", "c"}));
  EXPECT_EQ(trim(" \t x y \r\n"), "x y");
}

TEST(File, WritesAndReadsWhole) {
  std::string path = testing::TempDir() + "assay_file_test/deep/file";
  ASSERT_TRUE(write_file(path, std::string("a\0b", 3)));
  EXPECT_EQ(read_file(path).value(), std::string("a\0b", 3));
  EXPECT_FALSE(read_file(path + "missing"));
  EXPECT_NE(read_file(testing::TempDir()).error().message.find("cannot read"), std::string::npos);
  std::filesystem::remove_all(testing::TempDir() + "assay_file_test");
}
