// Every pure statement that was measured on the H200 (bench/results), with the measured inputs:
// results must agree bit for bit; approximations within the stated units in the last place.
#include "evaluate.hpp"
#include "measured.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <sstream>

namespace assay::vgpu {
namespace {

std::string replaced(std::string text) { // "$d" → "d"
  std::string out;
  for (char c : text)
    if (c != '$') out += c;
  return out;
}

int64_t ordered(uint64_t bits, uint32_t width) { // monotone in the value
  uint64_t sign = uint64_t(1) << (width - 1);
  return bits & sign ? -int64_t(bits & (sign - 1)) : int64_t(bits);
}

// Allowed distance of an approximation from the measured value: units in the last place, or
// absolute.
struct Tolerance {
  int64_t ulp = 0;
  double absolute = 0;
};
Tolerance tolerance_of(const std::string& ptx) {
  if (ptx.starts_with("ex2") || ptx.starts_with("rsqrt")) return {2, 0};
  if (ptx.starts_with("rcp.approx") || ptx.starts_with("sqrt.approx")) return {1, 0};
  if (ptx.starts_with("div.approx") || ptx.starts_with("div.full")) return {2, 0};
  if (ptx.starts_with("tanh")) return {ptx.find(".f32") != std::string::npos ? 134 : 1, 0};
  if (ptx.starts_with("lg2")) return {2, 1.6e-5};
  if (ptx.starts_with("sin") || ptx.starts_with("cos")) return {2, 4e-7};
  return {};
}

bool close(uint64_t got, uint64_t want, const Record& r) {
  if (got == want) return true;
  Tolerance t = tolerance_of(r.ptx);
  if (t.ulp == 0) return false;
  uint32_t width = width_of(r.type);
  bool angle = r.ptx.starts_with("sin") || r.ptx.starts_with("cos"); // zeros have either sign
  if (!angle && ((got | want) & ((uint64_t(1) << (width - 1)) - 1)) == 0) return false;
  int64_t unit = width == 64 ? int64_t(1) << 32 : 1; // f64 forms give the upper half
  if (std::abs(ordered(got, width) - ordered(want, width)) <= t.ulp * unit) return true;
  float x = std::bit_cast<float>(uint32_t(got)), y = std::bit_cast<float>(uint32_t(want));
  return width == 32 && t.absolute > 0 && std::abs(double(x) - double(y)) <= t.absolute;
}

// Failing elements of one record; the first few are described.
size_t compare(const Measured& m, const Record& r, const LevelUnderTest& level,
               std::string& description) {
  Recorder recorder;
  const char* names[] = {"a", "b", "c"};
  std::vector<uint32_t> widths;
  for (size_t k = 0; k < r.inputs.size(); ++k) {
    widths.push_back(r.inputs[k] == "u16.all" ? 16 : width_of(m.find(r.inputs[k])->type));
    recorder.declare(names[k], widths[k]);
  }
  uint32_t width = width_of(r.type);
  recorder.declare("d", width);
  auto instruction = parse_statement(replaced(r.ptx), recorder);
  if (!instruction) {
    description = "parse: " + instruction.error().text();
    return r.count;
  }
  auto lowered = ir::lower_pure(*instruction, recorder);
  if (!lowered || !*lowered) {
    description = lowered ? "not pure" : lowered.error().text();
    return r.count;
  }
  size_t wrong = 0;
  for (size_t base = 0; base < r.count; base += 32) {
    Frame frame(recorder);
    size_t n = std::min<size_t>(32, r.count - base);
    for (size_t k = 0; k < r.inputs.size(); ++k)
      for (size_t lane = 0; lane < n; ++lane)
        frame.set(recorder.slot(names[k]), widths[k], int(lane),
                  m.element(r.inputs[k], base + lane));
    frame.run(recorder, level, true, ~0u);
    for (size_t lane = 0; lane < n; ++lane) {
      uint64_t got = frame.get(recorder.slot("d"), width, int(lane));
      uint64_t want = m.element(r.name, base + lane);
      if (close(got, want, r)) continue;
      if (wrong++ >= 3) continue;
      std::stringstream text;
      text << std::hex << " [";
      for (const std::string& input : r.inputs) text << " " << m.element(input, base + lane);
      description += text.str();
      text.str("");
      text << std::hex << "] got " << got << " want " << want << ";";
      description += text.str();
    }
  }
  return wrong;
}

TEST(Golden, MeasuredStatements) {
  Measured m;
  ASSERT_GT(m.records.size(), 300u);
  size_t compared = 0;
  for (const Record& r : m.records) {
    if (r.ptx.empty() || r.ptx.find("$d") == std::string::npos || r.ptx.starts_with("redux"))
      continue;
    for (const LevelUnderTest& level : levels_under_test()) {
      std::string description;
      size_t wrong = compare(m, r, level, description);
      EXPECT_EQ(wrong, 0u) << level.name << " " << r.ptx << " of " << r.count << ":" << description;
      compared += r.count;
    }
  }
  EXPECT_GT(compared, 500000u);
}

} // namespace
} // namespace assay::vgpu
