// The table of instruction forms: well formed, every row can be generated, printed and parsed back,
// versions and targets are honoured, modifiers may be reordered, the nearest form is found.
#include "base/random.hpp"
#include "ptx/generate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

namespace assay::ptx {
namespace {

constexpr const char* kTargets[] = {"sm_90a", "sm_100a", "sm_120a", "sm_103a", "sm_110a", "sm_75"};

// A version and target that have the spelling; empty when the table is wrong about it.
std::string target_for(const IsaRow& row, const std::vector<std::string>& modifiers,
                       uint32_t& version) {
  version = std::min<uint32_t>(row.until, 90);
  for (const char* target : kTargets)
    if (!availability(row, modifiers, version, target).unmet) return target;
  return "";
}

const Instruction* first_unknown(const Module& module, size_t& count) {
  const Instruction* unknown = nullptr;
  for (const Statement& statement : module.functions.back().body)
    if (statement.kind == Statement::Kind::instruction) {
      ++count;
      if (!statement.instruction.row && !unknown) unknown = &statement.instruction;
    }
  return unknown;
}

// Several spellings of one row in one module: parses, knows every instruction, prints to a fixed
// point.
void check_row(const IsaRow& row, uint64_t samples) {
  const uint64_t variants = variant_count(row.modifiers);
  const uint64_t choices = operand_choices(row.operands);
  Random random(7, isa_index(row));
  for (uint64_t i = 0; i < samples; ++i) {
    uint64_t modifiers = variants <= samples ? i % variants : random.next() % variants;
    uint64_t operands = choices == 1 ? 0 : random.next() % choices;
    std::vector<std::string> words = variant(row.modifiers, modifiers);
    uint32_t version = 0;
    std::string target = target_for(row, words, version);
    std::string text = example(row, modifiers, operands);
    ASSERT_FALSE(target.empty()) << text;
    std::string source = example_module("\t" + text + "\n",
                                        fmt::format("{}.{}", version / 10, version % 10), target);
    auto module = parse(source, "t.ptx");
    ASSERT_TRUE(module) << text << "\n" << module.error().text();
    size_t count = 0;
    const Instruction* unknown = first_unknown(*module, count);
    ASSERT_EQ(unknown, nullptr) << text << "\n" << explain_unknown(*unknown, *module).text();
    ASSERT_EQ(count, 2u) << text;
    for (const Statement& statement : module->functions.back().body)
      if (statement.kind == Statement::Kind::instruction) {
        EXPECT_EQ(print(statement.instruction), text);
        break;
      }
    std::string printed = print(*module);
    auto again = parse(printed, "printed.ptx");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(print(*again), printed);
  }
}

TEST(Isa, EveryRowGeneratesPrintsAndParsesBack) {
  for (const IsaRow& row : isa_rows()) {
    check_row(row, 4);
    if (HasFailure()) return;
  }
}

TEST(Isa, RowsAreWellFormed) {
  std::set<std::string> seen;
  for (const IsaRow& row : isa_rows()) {
    std::string id = fmt::format("{} {} {}", row.opcode, row.modifiers, row.operands);
    EXPECT_TRUE(seen.insert(id).second) << "twice: " << id;
    EXPECT_TRUE(row.section.starts_with("9.7.")) << id;
    EXPECT_GE(row.ptx, 60) << id;
    EXPECT_LE(row.ptx, 99) << id;
    EXPECT_FALSE(row.sm.empty()) << id;
    for (std::string_view pattern : {row.modifiers, row.operands}) {
      EXPECT_EQ(std::count(pattern.begin(), pattern.end(), '('),
                std::count(pattern.begin(), pattern.end(), ')'))
          << id;
      EXPECT_EQ(std::count(pattern.begin(), pattern.end(), '{'),
                std::count(pattern.begin(), pattern.end(), '}'))
          << id;
    }
  }
  EXPECT_GE(isa_rows().size(), 700u);
}

TEST(Isa, VariantsCountAndMatch) {
  EXPECT_EQ(variant_count(".a{.b|.c}(.d|.e.f)"), 6u);
  std::set<std::string> all;
  for (uint64_t i = 0; i < 6; ++i) {
    auto words = variant(".a{.b|.c}(.d|.e.f)", i);
    EXPECT_TRUE(modifiers_match(".a{.b|.c}(.d|.e.f)", words));
    std::string text;
    for (auto& word : words) text += word;
    all.insert(text);
  }
  EXPECT_EQ(all.size(), 6u);
  EXPECT_FALSE(modifiers_match(".a{.b}", std::vector<std::string>{".b", ".a"}));
  EXPECT_FALSE(modifiers_match(".a", std::vector<std::string>{}));
}

TEST(Isa, TargetsAndFamilies) {
  EXPECT_TRUE(target_allows("70", "sm_52", 60));
  EXPECT_TRUE(target_allows("80", "sm_90a", 80));
  EXPECT_FALSE(target_allows("80", "sm_75", 80));
  EXPECT_TRUE(target_allows("90a", "sm_90a", 80));
  EXPECT_FALSE(target_allows("90a", "sm_90", 80));
  EXPECT_FALSE(target_allows("90a", "sm_100a", 86));
  EXPECT_TRUE(target_allows("100f", "sm_103a", 88));
  EXPECT_FALSE(target_allows("100f", "sm_110a", 90));
  EXPECT_FALSE(target_allows("100f", "sm_103", 88));
  EXPECT_TRUE(target_allows("90 89@81", "sm_89", 81));
  EXPECT_FALSE(target_allows("90 89@81", "sm_89", 78));
}

struct Expectation {
  const char* version;
  const char* target;
  const char* instruction;
  const char* message; // of explain_unknown; empty: the form exists
};

std::string verdict(const Expectation& expected) {
  auto module = parse(example_module(fmt::format("\t{}\n", expected.instruction), expected.version,
                                     expected.target),
                      "t.ptx");
  if (!module) return "parse error: " + module.error().text();
  size_t count = 0;
  const Instruction* unknown = first_unknown(*module, count);
  return unknown ? explain_unknown(*unknown, *module).text() : "";
}

TEST(Isa, WhatPtxasRejectsWeReject) {
  const Expectation cases[] = {
      {"8.0", "sm_90", "add.sat.u32 %r1, %r2, %r3;", "has no form"},
      {"8.0", "sm_90", "add.f32.s32 %r1, %r2, %r3;", "has no form"},
      {"8.0", "sm_90", "mul.s32.lo %r1, %r2, %r3;", "nearest known form is 'mul.lo.s32'"},
      {"8.0", "sm_90", "cvt.s32.f32 %r1, %f2;", "nearest known form is 'cvt.rni.s32.f32'"},
      {"8.0", "sm_90", "setp.lo.s32 %p1, %r2, %r3;", "has no form"},
      {"8.0", "sm_90", "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%l1];", "8.8"},
      {"8.0", "sm_90", "ld.globl.b32 %r1, [%l1];", "nearest known form is 'ld.global.b32'"},
      {"8.0", "sm_90", "ldd.global.b32 %r1, [%l1];", "nearest known form is 'ld.global.b32'"},
      {"8.0", "sm_90", "add.s32 %r1, %r2;", "wrong operands"},
      {"8.0", "sm_90", "ld.global.b32 %r1, %l1;", "wrong operands"},
      {"8.0", "sm_90", "ld.global.v2.b32 {%r1, %r2, %r3}, [%l1];", "wrong operands"},
      {"8.0", "sm_90", "ld.global.b32 %r1, [%l1], %l2;", "wrong operands"},
      {"8.0", "sm_90", "ld.global.L2::cache_hint.b32 %r1, [%l1];", "wrong operands"},
      {"8.0", "sm_90", "wgmma.fence.sync.aligned;", "target of sm_[90a]"},
      {"7.8", "sm_90", "elect.sync %r1|%p1, %r2;", "needs PTX ISA 8.0"},
      {"7.4", "sm_80", "ld.shared::cta.b32 %r1, [%l1];", "'.shared::cta' needs PTX ISA 7.8"},
      {"6.4", "sm_75", "vote.all.pred %p1, %p2;", "ended with PTX ISA 6.3"},
      {"6.3", "sm_75", "vote.all.pred %p1, %p2;", ""},
      {"8.6", "sm_100a", "tcgen05.wait::ld.sync.aligned;", ""},
      {"8.0", "sm_90", "atom.add.global.u32 %r1, [%l1], %r2;", ""},
      {"8.0", "sm_90", "cp.cg.async.shared.global [%l1], [%l2], 16;", "has no form"},
  };
  for (const Expectation& expected : cases) {
    std::string got = verdict(expected);
    bool as_expected = *expected.message ? got.find(expected.message) != got.npos : got.empty();
    EXPECT_TRUE(as_expected) << expected.instruction << "\n" << got;
  }
}

TEST(Isa, ReorderedModifiersComeBackInTableOrder) {
  auto module = parse(example_module("\tatom.global.cta.exch.b32 %r1, [%l1], %r2;\n"
                                     "\tadd.f32.rn %f1, %f2, %f3;\n"
                                     "\tldmatrix.sync.aligned.x4.m8n8.shared.b16 {%r1, %r2, %r3, "
                                     "%r4}, [%r5];\n",
                                     "8.0", "sm_90"),
                      "t.ptx");
  ASSERT_TRUE(module) << module.error().text();
  std::vector<std::string> printed;
  for (const Statement& statement : module->functions.back().body)
    if (statement.kind == Statement::Kind::instruction)
      printed.push_back(print(statement.instruction));
  EXPECT_EQ(printed.at(0), "atom.cta.global.exch.b32 %r1, [%l1], %r2;");
  EXPECT_EQ(printed.at(1), "add.rn.f32 %f1, %f2, %f3;");
  EXPECT_EQ(printed.at(2), "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];");
}

TEST(Isa, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(nearest_variant(".a{.b}(.u32|.s32)", std::vector<std::string>{".b", ".s33"}).text,
            ".a.b.s32");
}

} // namespace
} // namespace assay::ptx
