// Fingerprints stay when lines move and change when their text does; texts of the timeline fit.
#include "report/fingerprint.hpp"

#include "base/file.hpp"
#include "report/document.hpp"
#include "report/timeline.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace assay;
using namespace assay::report;

namespace {

class Fingerprint : public testing::Test {
protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / fmt::format("assay-fingerprint-{}", ::getpid());
    path_ = (folder_ / "k.cu").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Finding race(const std::string& source, uint32_t a, uint32_t b) {
    EXPECT_TRUE(write_file(path_, source));
    Finding out;
    out.kind = std::string("race");
    out.space = std::string("shared");
    for (uint32_t line : {a, b}) {
      Location at;
      at.file = at.source = path_;
      at.line = line;
      at.function = std::string("kernel");
      out.locations.push_back(at);
    }
    return out;
  }
  static std::string of(const Finding& finding) {
    Sources sources;
    return fingerprint(finding, sources);
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(Fingerprint, StaysWhenLinesMove) {
  const std::string here = of(race("s[i] = x;\ny = s[j];\n", 1, 2));
  EXPECT_EQ(here.size(), 16u);
  EXPECT_EQ(here, of(race("\n\n  s[i]  =  x; // moved\n\ty = s[j];\n", 3, 4)));
  EXPECT_EQ(here, of(race("s[i] = x;\ny = s[j];\n", 2, 1))); // the schedule's order
}

TEST_F(Fingerprint, ChangesWithWhatItIsOf) {
  Finding finding = race("s[i] = x;\ny = s[j];\n", 1, 2);
  const std::string here = of(finding);
  finding.space = std::string("global");
  EXPECT_NE(here, of(finding));
  finding.space = std::string("shared");
  finding.kind = std::string("race-without-consequence");
  EXPECT_NE(here, of(finding));
  finding.kind = std::string("race");
  finding.locations[1].function = std::string("other");
  EXPECT_NE(here, of(finding));
  EXPECT_NE(here, of(race("s[i] = x;\ny = s[k];\n", 1, 2)));
}

TEST(TimelineText, IsCutToColumns) {
  EXPECT_EQ(columns("✗ a"), 3u);
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdefg", 6), "abcde…");
  EXPECT_EQ(cut("ééééé", 3), "éé…");
}

TEST(Escaping, KeepsMarkupOut) {
  EXPECT_EQ(escape("<a href=\"x\">&\x01"), "&lt;a href=&quot;x&quot;&gt;&amp;\\x01");
}

} // namespace
