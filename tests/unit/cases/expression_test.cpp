// Expressions over shape symbols: values and every kind of mistake.
#include "cases/expression.hpp"

#include <gtest/gtest.h>

using namespace assay;
using namespace assay::cases;

namespace {
const Symbols kSymbols = {{"rows", 64}, {"cols", 1000}};
int64_t value(const char* text) { return evaluate(text, kSymbols, {}).value(); }
std::string error(const std::string& text) {
  return evaluate(text, kSymbols, {"f", 1, 2}).error().message;
}
} // namespace

TEST(Expression, Evaluates) {
  EXPECT_EQ(value("7"), 7);
  EXPECT_EQ(value("rows * cols + 1"), 64001);
  EXPECT_EQ(value("2-3-4"), -5);
  EXPECT_EQ(value("-(rows - 1) % 10"), -3);
  EXPECT_EQ(value("(cols+255)/256"), 4);
  EXPECT_EQ(value("ceildiv(cols, 256) + min(rows, 2) + max(1, 2)"), 8);
  EXPECT_EQ(value("0x10"), 16);
  EXPECT_DOUBLE_EQ(evaluate_real("1/rows + 0.5", kSymbols, {}).value(), 0.515625);
  EXPECT_DOUBLE_EQ(evaluate_real("1e-3", kSymbols, {}).value(), 1e-3);
}

TEST(Expression, MistakesAreErrorsThatNameTheExpression) {
  EXPECT_NE(error("row*2").find("no shape symbol 'row'; did you mean 'rows'?"), std::string::npos);
  EXPECT_NE(error("1/0").find("division by zero"), std::string::npos);
  EXPECT_NE(error("(1").find("')' is missing"), std::string::npos);
  EXPECT_NE(error("1 2").find("unexpected '2'"), std::string::npos);
  EXPECT_NE(error("9223372036854775807*2").find("64 bits"), std::string::npos);
  EXPECT_NE(error("99999999999999999999").find("64 bits"), std::string::npos);
  EXPECT_NE(error("").find("too early"), std::string::npos);
  EXPECT_NE(error("pow(1,2)").find("no function 'pow'"), std::string::npos);
  EXPECT_NE(error(std::string(100000, '(')).find("too deeply"), std::string::npos);
  EXPECT_NE(error(std::string(100000, '-') + "1").find("too deeply"), std::string::npos);
  EXPECT_EQ(evaluate("x", {}, {"f.toml", 3, 4}).error().span.line, 3u);
}
