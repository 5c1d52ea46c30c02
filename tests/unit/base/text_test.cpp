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

TEST(Text, PrintableShowsOddBytesAndCutsLongLines) {
  EXPECT_EQ(printable("plain\ttext\nä €", 100), "plain\ttext\nä €");
  EXPECT_EQ(printable(std::string("a\0b\x1b[31m\x7f", 9), 100), "a\\x00b\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xff\xc3(\xed\xa0\x80\xc2\x85", 100),
            "\\xff\\xc3(\\xed\\xa0\\x80\\xc2\\x85");
  EXPECT_EQ(printable("short\n" + std::string(1000, 'x') + "end\nshort", 9),
            "short\nxxxxxx…end\nshort");
  for (size_t n = 1; n < 20; ++n) // never half a character
    EXPECT_EQ(printable("ääääääääääääääääääää", n).find("\\x"), std::string::npos) << n;
  EXPECT_EQ(printable("", 9), "");
}

TEST(Text, LongWordsAreNotCompared) {
  std::string million(1000000, 'a');
  EXPECT_EQ(did_you_mean(million, {million + "b"}), "");
  EXPECT_EQ(did_you_mean("kernal", {million, "kernel"}), "; did you mean 'kernel'?");
}

TEST(File, EndlessAndLargeOnesAreRefused) {
  EXPECT_NE(read_file("/dev/zero", 1 << 20).error().message.find("too large"), std::string::npos);
  EXPECT_TRUE(read_file("/dev/null"));
}

TEST(File, WritesAndReadsWhole) {
  std::string path = testing::TempDir() + "assay_file_test/deep/file";
  ASSERT_TRUE(write_file(path, std::string("a\0b", 3)));
  EXPECT_EQ(read_file(path).value(), std::string("a\0b", 3));
  EXPECT_FALSE(read_file(path + "missing"));
  EXPECT_NE(read_file(testing::TempDir()).error().message.find("cannot read"), std::string::npos);
  std::filesystem::remove_all(testing::TempDir() + "assay_file_test");
}
