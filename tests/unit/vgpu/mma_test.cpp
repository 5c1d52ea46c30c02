// mma.sync against the H200 (bench/results): every measured trial, bit for bit, through the
// fragment layouts of the manual, which are written down here a second time.
#include "evaluate.hpp"
#include "measured.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace assay::vgpu {
namespace {

struct Shape {
  int k;
  std::string record, statement, type;
};

// Row and column of element i in a lane's fragment; `per` elements share a register.
std::pair<int, int> place_a(int k, int per, int lane, int i) {
  int group = lane / 4, inside = lane % 4;
  if (per == 2 && k == 16) { // a0 a1 | a2 a3 | a4 a5 | a6 a7
    bool upper = i < 2 || (i >= 4 && i < 6);
    return {upper ? group : group + 8, inside * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  }
  if (per == 2) return {i < 2 ? group : group + 8, inside * 2 + (i & 1)};
  return {i == 0 || i == 2 ? group : group + 8, i < 2 ? inside : inside + 4}; // tf32
}
std::pair<int, int> place_b(int per, int lane, int i) {
  int group = lane / 4, inside = lane % 4;
  if (per == 2) return {inside * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
  return {i == 0 ? inside : inside + 4, group};
}
std::pair<int, int> place_c(int lane, int i) {
  return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)};
}

std::string list(const std::string& prefix, int count) {
  std::string text = "{";
  for (int r = 0; r < count; ++r) text += fmt::format("{}{}{}", r ? "," : "", prefix, r);
  return text + "}";
}

size_t run(const Measured& m, const Shape& s, const LevelUnderTest& level) {
  int per = s.type == "tf32" ? 1 : 2;
  bool half = s.record.find(".f16.f16") != std::string::npos;
  int a_regs = 16 * s.k / 32 / per, b_regs = 8 * s.k / 32 / per, c_regs = half ? 2 : 4;
  Recorder recorder;
  for (int r = 0; r < a_regs; ++r) recorder.declare(fmt::format("a{}", r), 32);
  for (int r = 0; r < b_regs; ++r) recorder.declare(fmt::format("b{}", r), 32);
  for (int r = 0; r < c_regs; ++r) recorder.declare(fmt::format("c{}", r), 32);
  for (int r = 0; r < c_regs; ++r) recorder.declare(fmt::format("d{}", r), 32);
  std::string text = fmt::format("{} {}, {}, {}, {};", s.statement, list("d", c_regs),
                                 list("a", a_regs), list("b", b_regs), list("c", c_regs));
  auto instruction = parse_statement(text, recorder);
  EXPECT_TRUE(instruction.ok()) << text;
  auto lowered = ir::lower_pure(*instruction, recorder);
  EXPECT_TRUE(lowered.ok() && *lowered) << text;
  if (!lowered.ok()) return 1;
  const Record* d = m.find(s.record);
  size_t wrong = 0, trials = d->count / 128;
  auto slot = [&](char name, int r) { return recorder.slot(fmt::format("{}{}", name, r)); };
  for (size_t t = 0; t < trials; ++t) {
    Frame frame(recorder);
    auto put = [&](char name, int r, int lane, int part, int width, uint64_t bits) {
      uint64_t old = part ? frame.get(slot(name, r), 32, lane) : 0;
      frame.set(slot(name, r), 32, lane, old | bits << (part * width));
    };
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < a_regs * per; ++i) {
        auto [row, column] = place_a(s.k, per, lane, i);
        put('a', i / per, lane, i % per, 16,
            m.element(s.record + ".a", (t * 16 + row) * s.k + column));
      }
      for (int i = 0; i < b_regs * per; ++i) {
        auto [row, column] = place_b(per, lane, i);
        put('b', i / per, lane, i % per, 16,
            m.element(s.record + ".b", (t * s.k + row) * 8 + column));
      }
      for (int i = 0; i < 4; ++i) {
        auto [row, column] = place_c(lane, i);
        uint64_t bits = m.element(s.record + ".c", (t * 16 + row) * 8 + column);
        put('c', half ? i / 2 : i, lane, half ? i % 2 : 0, 16, bits);
      }
    }
    frame.run(recorder, level, true, ~0u);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        auto [row, column] = place_c(lane, i);
        uint64_t want = m.element(s.record, (t * 16 + row) * 8 + column);
        uint64_t got = frame.get(slot('d', half ? i / 2 : i), 32, lane);
        if (half) got = got >> (16 * (i % 2)) & 0xffff;
        if (got != want && ++wrong <= 5)
          ADD_FAILURE() << level.name << " " << s.record << " trial " << t << " row " << row
                        << " column " << column << std::hex << " got " << got << " want " << want;
      }
  }
  return wrong;
}

TEST(Mma, MeasuredTrials) {
  Measured m;
  size_t records = 0;
  for (const Record& r : m.records) {
    if (!r.name.starts_with("mma.") || r.ptx.empty()) continue;
    // mma[.floor].SHAPE.ACC.TYPE
    size_t at = r.name.find("m16n8k");
    int k = std::stoi(r.name.substr(at + 6));
    std::string shape = r.name.substr(at, r.name.find('.', at) - at);
    std::string rest = r.name.substr(at + shape.size() + 1);
    std::string acc = rest.substr(0, rest.find('.')), type = rest.substr(acc.size() + 1);
    std::string statement =
        fmt::format("mma.sync.aligned.{0}.row.col.{1}.{2}.{2}.{1}", shape, acc, type);
    for (const LevelUnderTest& level : levels_under_test())
      EXPECT_EQ(run(m, {k, r.name, statement, type}, level), 0u) << level.name << " " << r.name;
    ++records;
  }
  EXPECT_EQ(records, 9u);
}

// f64 and 8-bit integers, register by register: layouts and values (bench/results/fragments.py).
TEST(Mma, MeasuredFragments) {
  Measured m("h200-2026-11-30-fragments");
  size_t compared = 0;
  for (const Record& r : m.records) {
    if (r.ptx.empty()) continue;
    uint32_t width = width_of(r.type);
    constexpr size_t kTrials = 8;
    Recorder recorder;
    std::string operands[4];
    size_t counts[4];
    const char* letters = "dabc";
    for (int k = 0; k < 4; ++k) {
      std::string table = k ? fmt::format("{}.{}", r.name, letters[k]) : r.name;
      counts[k] = m.find(table)->count / 32 / kTrials;
      for (size_t reg = 0; reg < counts[k]; ++reg)
        recorder.declare(fmt::format("{}{}", letters[k], reg), width);
      operands[k] = list(std::string(1, letters[k]), int(counts[k]));
    }
    std::string text = fmt::format("{} {}, {}, {}, {};", r.ptx, operands[0], operands[1],
                                   operands[2], operands[3]);
    auto instruction = parse_statement(text, recorder);
    ASSERT_TRUE(instruction.ok()) << text;
    auto lowered = ir::lower_pure(*instruction, recorder);
    ASSERT_TRUE(lowered.ok() && *lowered) << text;
    for (const LevelUnderTest& level : levels_under_test())
      for (size_t t = 0; t < kTrials; ++t) {
        Frame frame(recorder);
        auto index = [&](int k, size_t reg, int lane) {
          return (t * counts[k] + reg) * 32 + size_t(lane);
        };
        for (int k = 1; k < 4; ++k)
          for (size_t reg = 0; reg < counts[k]; ++reg)
            for (int lane = 0; lane < 32; ++lane)
              frame.set(recorder.slot(fmt::format("{}{}", letters[k], reg)), width, lane,
                        m.element(fmt::format("{}.{}", r.name, letters[k]), index(k, reg, lane)));
        frame.run(recorder, level, true, ~0u);
        for (size_t reg = 0; reg < counts[0]; ++reg)
          for (int lane = 0; lane < 32; ++lane, ++compared)
            ASSERT_EQ(frame.get(recorder.slot(fmt::format("d{}", reg)), width, lane),
                      m.element(r.name, index(0, reg, lane)))
                << level.name << " " << r.name << " trial " << t << " lane " << lane << " d" << reg;
      }
  }
  EXPECT_GE(compared, 5000u);
}

} // namespace
} // namespace assay::vgpu
