// The parser on small modules: trees, scopes, diagnostics.
#include "ptx/isa.hpp"
#include "ptx/module.hpp"

#include <gtest/gtest.h>

namespace assay::ptx {
namespace {

constexpr char kHead[] = ".version 8.8\n.target sm_90a\n.address_size 64\n";

Result<Module> parse_body(const std::string& body, ParseOptions options = {}) {
  return parse(std::string(kHead) +
                   ".visible .entry k(.param .u64 p, .param .align 8 .b8 q[16])\n" +
                   ".maxntid 256, 1, 1\n{\n" + body + "\n}\n",
               "t.ptx", options);
}

Statement find(const Module& module, const std::string& opcode) {
  for (const Statement& statement : module.functions.back().body)
    if (statement.kind == Statement::Kind::instruction && statement.instruction.opcode == opcode)
      return statement;
  ADD_FAILURE() << "no " << opcode;
  return {};
}

TEST(Parser, HeaderAndSignature) {
  auto module = parse_body("ret;");
  ASSERT_TRUE(module) << module.error().text();
  EXPECT_EQ(module->version, "8.8");
  EXPECT_EQ(module->version_major * 10 + module->version_minor, 88u);
  EXPECT_EQ(module->target, std::vector<std::string>{"sm_90a"});
  const Function& k = module->functions.at(0);
  EXPECT_TRUE(k.is_entry && k.has_body);
  ASSERT_EQ(k.params.size(), 2u);
  EXPECT_EQ(k.params[1].size_bytes(), 16u);
  EXPECT_EQ(k.params[1].align, 8u);
  EXPECT_EQ(k.params[0].space, Space::param_entry);
  EXPECT_EQ(k.performance, std::vector<std::string>{".maxntid 256, 1, 1"});
}

TEST(Parser, OperandKinds) {
  auto module = parse_body(R"(
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<2>; .reg .b64 %rd<4>; .shared .align 4 .b8 s[64];
    setp.lt.and.f32 %p1|%p2, %f1, 0f3F800000, !%p0;
    @!%p1 ld.shared.v2.b32 {%r1, _}, [s+12];
    mov.u32 %r2, %tid.x;
    mov.u64 %rd1, s;
    add.s32 %r3, %r2, -7;
    mad.lo.s32 %r4, %r3, 0xFFFFFFFF, (1 << 4) + 2 * 3;
  L: bra.uni L;)");
  ASSERT_TRUE(module) << module.error().text();
  Instruction setp = find(*module, "setp").instruction;
  EXPECT_EQ(setp.operands[0].kind, Operand::Kind::pair);
  EXPECT_EQ(setp.operands[2].kind, Operand::Kind::float32);
  EXPECT_EQ(setp.operands[2].bits, 0x3F800000u);
  EXPECT_TRUE(setp.operands[3].negated);
  Instruction ld = find(*module, "ld").instruction;
  EXPECT_EQ(ld.guard, "%p1");
  EXPECT_TRUE(ld.guard_negated);
  EXPECT_EQ(ld.modifiers, (std::vector<std::string>{".shared", ".v2", ".b32"}));
  EXPECT_EQ(ld.operands[0].elements[1].kind, Operand::Kind::sink);
  EXPECT_EQ(ld.operands[1].offset, 12);
  EXPECT_EQ(ld.operands[1].elements[0].kind, Operand::Kind::symbol);
  EXPECT_EQ(find(*module, "mov").instruction.operands[1].name, "%tid.x");
  EXPECT_EQ(int64_t(find(*module, "add").instruction.operands[2].bits), -7);
  Instruction mad = find(*module, "mad").instruction;
  EXPECT_EQ(mad.operands[2].bits, 0xFFFFFFFFu);
  EXPECT_EQ(mad.operands[3].bits, 22u);
  EXPECT_EQ(find(*module, "bra").instruction.operands[0].kind, Operand::Kind::label);
}

TEST(Parser, InitialisersFlattenWithPadding) {
  auto module = parse(std::string(kHead) + R"(
    .global .align 2 .s16 m[2][3] = {{1}, {-2, 3}};
    .global .f32 f = 1.5;
    .global .u64 t[] = {m, generic(m)+8, 7};
    .global .b8 b[2] = {0xFF(m), 0xFF00(m+1)};)",
                      "t.ptx");
  ASSERT_TRUE(module) << module.error().text();
  const auto& m = module->variables[0].init;
  ASSERT_EQ(m.size(), 5u);
  EXPECT_EQ(m[0].bits, 1u);
  EXPECT_EQ(m[3].bits, 0xFFFEu);
  EXPECT_EQ(module->variables[1].init[0].bits, 0x3FC00000u);
  EXPECT_EQ(module->variables[2].dims[0], 3u);
  EXPECT_TRUE(module->variables[2].init[1].generic);
  EXPECT_EQ(module->variables[2].init[1].addend, 8);
  EXPECT_EQ(module->variables[3].init[1].mask, 0xFF00u);
}

TEST(Parser, CallForms) {
  auto module = parse_body(R"(
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    { .param .b32 a; .param .b32 r;
      call.uni (r), %rd1, (a), proto;
      proto: .callprototype (.param .b32 _) _ (.param .b32 _);
    }
    ret;)");
  ASSERT_TRUE(module) << module.error().text();
  Instruction call = find(*module, "call").instruction;
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(call.operands[0].kind, Operand::Kind::list);
  EXPECT_EQ(call.operands[1].kind, Operand::Kind::reg);
  ASSERT_EQ(call.extra.size(), 1u);
  EXPECT_EQ(call.extra[0].name, "proto");
}

TEST(Parser, LocationsChainAndResolve) {
  auto module = parse(std::string(kHead) + R"(.entry k() {
    .loc 1 30 5
    .loc 1 10 3, function_name $L__info_string0, inlined_at 1 30 5
    ret; }
    .file 1 "/a b/x.cu"
    .section .debug_str { $L__info_string0:
      .b8 102,111,111,0 })",
                      "t.ptx");
  ASSERT_TRUE(module) << module.error().text();
  const Location& at = module->locations[find(*module, "ret").instruction.loc];
  EXPECT_EQ(at.line, 10u);
  EXPECT_EQ(at.function, "foo");
  EXPECT_EQ(module->locations[at.inlined_at].line, 30u);
  EXPECT_EQ(module->files[1], "/a b/x.cu");
}

TEST(Parser, UnknownInstructionStaysInItsKernel) {
  auto module = parse_body(
      ".reg .b32 %r<3>; frobnicate.s32 %r1, weird ~ [stuff]; add.s33 %r1, %r1, %r2; ret;");
  ASSERT_TRUE(module) << module.error().text();
  EXPECT_EQ(find(*module, "frobnicate").instruction.row, nullptr);
  EXPECT_EQ(find(*module, "add").instruction.row, nullptr);
  Error why = explain_unknown(find(*module, "add").instruction, *module);
  EXPECT_EQ(why.span.line, 7u);
  ASSERT_EQ(why.notes.size(), 1u);
  EXPECT_NE(why.notes[0].find("'add.s32'"), std::string::npos) << why.text();
  auto strict = parse_body(".reg .b32 %r<3>; add.s33 %r1, %r1, %r2; ret;", {.keep_going = false});
  ASSERT_FALSE(strict);
  EXPECT_NE(strict.error().text().find("t.ptx:7:18"), std::string::npos) << strict.error().text();
}

struct BadCase {
  const char* body;
  const char* message;
};

TEST(Parser, ErrorsHavePlaceAndReason) {
  const BadCase cases[] = {
      {"mov.u32 %r1, 3;", "t.ptx:7:9: register '%r1' is declared nowhere"},
      {".reg .b32 %r<2>; mov.u32 %r2, 3;", "register '%r2' is declared nowhere"},
      {"bra nowhere;", "'nowhere' is declared nowhere"},
      {".reg .b32 a; mov.u32 a, 3", "expected ',' or ';'"},
      {".reg .b32 a; @a ret;", "'a' is not a predicate register"},
      {".reg .b32 a; { mov.u32 a, 1/0; }", "cannot be applied"},
      {".bogus .b32 a;", "expected a declaration"},
      {".reg .b32 a[", "expected"},
      {"/* open", "expected"},
  };
  for (const BadCase& bad : cases) {
    auto module = parse_body(bad.body);
    ASSERT_FALSE(module) << bad.body;
    EXPECT_NE(module.error().text().find(bad.message), std::string::npos) << bad.body << "\n"
                                                                          << module.error().text();
  }
  EXPECT_FALSE(parse("", "t.ptx"));
  EXPECT_FALSE(parse(".version 8.0\n.target sm_80\n.entry k() {", "t.ptx"));
}

TEST(Parser, FurtherTargetDirectivesDoNotMoveTheFirst) {
  auto module = parse(std::string(kHead) + ".target debug\n.target sm_80, sm_75\n"
                                           ".entry k() { wgmma.fence.sync.aligned; ret; }",
                      "t.ptx");
  ASSERT_TRUE(module) << module.error().text();
  EXPECT_NE(find(*module, "wgmma").instruction.row, nullptr); // sm_90a's
}

TEST(Parser, ScopesHideAndEnd) {
  auto module = parse_body("{ .reg .b32 a; mov.u32 a, 1; } mov.u32 a, 2;");
  ASSERT_FALSE(module);
  EXPECT_TRUE(parse_body("{ .reg .b32 a; mov.u32 a, 1; } { .reg .b32 a; mov.u32 a, 2; }"));
}

} // namespace
} // namespace assay::ptx
