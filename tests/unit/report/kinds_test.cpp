// The table of kinds is complete and its texts are usable; the printers keep their promises.
#include "report/json.hpp"
#include "report/kinds.hpp"
#include "report/terminal.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <set>

using namespace assay::report;

TEST(Kinds, HaveTitleMeaningAndFix) {
  std::set<std::string_view> names;
  for (const Kind& kind : kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_FALSE(kind.title.empty() || kind.meaning.empty() || kind.fix.empty()) << kind.name;
    EXPECT_EQ(find_kind(kind.name), &kind);
  }
  for (const char* name :
       {"race", "race-without-consequence", "nondeterministic", "deadlock", "barrier-divergence",
        "hang", "out-of-bounds", "misaligned", "uninitialised-read", "unwritten-output",
        "invalid-lane-mask", "empty-kernel", "trap", "assert", "unspecified-value",
        "illegal-operation", "input-modified", "wrong-value"})
    EXPECT_TRUE(names.count(name)) << name;
  EXPECT_EQ(find_kind("rase"), nullptr);
}

TEST(Json, IsValidAndKeepsWhatItIsGiven) {
  Verdict verdict;
  verdict.verdict = "fail";
  verdict.findings.emplace_back();
  verdict.findings[0].kind = "race";
  verdict.findings[0].message = "not UTF-8: \xff";
  nlohmann::json json = nlohmann::json::parse(print_json(verdict));
  EXPECT_EQ(json["schema"], kSchema);
  EXPECT_EQ(json["verdict"], "fail");
  EXPECT_TRUE(json["deterministic"].is_null());
  EXPECT_EQ(json["findings"][0]["kind"], "race");
}

TEST(Terminal, LastLineIsTheVerdict) {
  Verdict verdict;
  verdict.verdict = "unknown";
  verdict.reason = "budget";
  Style style;
  std::string text = print_terminal(verdict, style);
  EXPECT_EQ(text, "unknown: budget [0 schedules, seed 1]\n");
  style.color = true;
  EXPECT_NE(print_terminal(verdict, style).find("\033["), std::string::npos);
}

TEST(Terminal, ShowsAtMostThePrintLimit) {
  Verdict verdict;
  verdict.verdict = "fail";
  for (int i = 0; i < 5; ++i) {
    verdict.findings.emplace_back();
    verdict.findings.back().kind = "race";
  }
  Style style;
  style.print_limit = 2;
  std::string text = print_terminal(verdict, style);
  EXPECT_NE(text.find("3 further findings"), std::string::npos);
  style.print_limit = 0;
  EXPECT_EQ(print_terminal(verdict, style).find("further"), std::string::npos);
}

TEST(Terminal, ClosingLineCounts) {
  using State = Row::State;
  std::vector<Row> rows = {{"", State::passed, ""},
                           {"", State::unknown, ""},
                           {"", State::broken, ""},
                           {"", State::skipped, ""}};
  EXPECT_EQ(closing_line(rows), "1 of the failed are unknown\n1 passed, 2 failed, 1 skipped\n");
}
