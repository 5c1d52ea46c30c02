// Printing: declarations, initialisers, functions, locations and tables come back as they were.
#include "ptx/module.hpp"

#include <gtest/gtest.h>

namespace assay::ptx {
namespace {

constexpr char kHead[] = ".version 8.8\n.target sm_90a\n.address_size 64\n";

std::string printed(const std::string& text) {
  auto module = parse(kHead + text, "t.ptx");
  if (!module) return module.error().text();
  std::string out = print(*module);
  auto again = parse(out, "printed.ptx");
  EXPECT_TRUE(again) << again.error().text() << "\n" << out;
  EXPECT_EQ(again ? print(*again) : "", out);
  return out;
}

void expect_line(const std::string& text, const std::string& line) {
  std::string out = printed(text);
  EXPECT_NE(out.find(line), std::string::npos) << "wanted: " << line << "\n" << out;
}

TEST(Printer, Declarations) {
  expect_line(".visible .global .align 8 .v2 .f32 a[3][4];",
              ".visible .global .align 8 .v2 .f32 a[3][4];");
  expect_line(".extern .shared .align 16 .b8 s[];", ".extern .shared .align 16 .b8 s[];");
  expect_line(".global .attribute(.managed) .b32 m;", ".global .attribute(.managed) .b32 m;");
  expect_line(".entry k(.param .u64 .ptr .global .align 16 p){ret;}",
              ".param .u64 .ptr .global .align 16 p");
  expect_line(".entry k(){.reg .b32 %r<7>, x; .reg .pred p; ret;}", ".reg .b32 %r<7>;");
  expect_line(".global .texref t;", ".global .texref t;");
  expect_line(".global .samplerref s = { addr_mode_0 = clamp_to_edge, filter_mode = linear };",
              "= { addr_mode_0 = clamp_to_edge, filter_mode = linear };");
}

TEST(Printer, Initialisers) {
  expect_line(".global .s16 m[2][3] = {{1},{-2,3}};", "= {{1, 0, 0}, {-2, 3}};");
  expect_line(".global .f32 f[2] = {1.5, 0f7FC00000};", "= {0f3FC00000, 0f7FC00000};");
  expect_line(".global .u32 x; .global .u64 p[2] = {x, generic(x)+8};", "= {x, generic(x)+8};");
  expect_line(".global .u32 x; .global .b8 p[2] = {0xFF(x), 0xFF00(x+1)};",
              "= {0xFF(x), 0xFF00(x+1)};");
  expect_line(".global .b32 one = 0xFFFFFFFF;", ".global .b32 one = 4294967295;");
  expect_line(".global .v2 .u32 v[2] = {{1,2},{3,4}};", "= {{1, 2}, {3, 4}};");
}

TEST(Printer, Functions) {
  expect_line(".weak .func (.param .b32 r) f(.param .b32 a, .param .b8 v[]) .noreturn;",
              "\n.noreturn;");
  expect_line(".entry k() .maxntid 128, 2, 1 .minnctapersm 2 { ret; }",
              ".maxntid 128, 2, 1\n.minnctapersm 2\n{");
  expect_line(".func f(){ret;} .alias g, f;", ".alias g, f;");
  expect_line(".entry k(){ .pragma \"nounroll\"; ret; }", ".pragma \"nounroll\";");
}

TEST(Printer, BodiesKeepTablesPrototypesAndOffsets) {
  const std::string text = ".entry k(){ .reg .b32 r; .reg .b64 a; .local .b8 s[8];\n"
                           "T: .branchtargets L, M;\n brx.idx r, T; L: ld.local.b32 r, [s+0];\n"
                           "M: ld.local.b32 r, [a+-4]; st.local.b32 [s], r;\n"
                           "P: .callprototype (.param .b32 _) _ (.param .b64 _);\n ret; }";
  expect_line(text, "T: .branchtargets L, M;");
  expect_line(text, "[s+0]");
  expect_line(text, "[a+-4]");
  expect_line(text, "st.local.b32 [s], r;");
  expect_line(text, "P: .callprototype (.param .b32 _) _ (.param .b64 _);");
}

TEST(Printer, LocationsPrintTheirCallersFirst) {
  expect_line(
      ".entry k(){ .loc 1 30 5\n .loc 1 10 3, function_name $L__s, inlined_at 1 30 5\n ret; }\n"
      ".file 1 \"x.cu\"\n.section .debug_str { $L__s: .b8 102,0 }",
      ".loc 1 30 5\n\t.loc 1 10 3, function_name $L__s, inlined_at 1 30 5\n\tret;");
}

TEST(Printer, NegationIsMinusOnlyForVmad) {
  const std::string text = ".entry k(){ .reg .b32 a, b; .reg .pred p, q;\n"
                           "vmad.s32.s32.s32 a, -b.h1, b, b; setp.eq.and.s32 p, a, b, !q; ret; }";
  expect_line(text, "vmad.s32.s32.s32 a, -b.h1, b, b;");
  expect_line(text, "setp.eq.and.s32 p, a, b, !q;");
}

// Found by the fuzzer: what follows an unknown mnemonic must not become a label's colon.
TEST(Printer, UnknownInstructionsStayInstructions) {
  expect_line(".entry k(){ hared::cta . [%l1], %l6; ret; }", "hared ::cta . [%l1], %l6;");
}

} // namespace
} // namespace assay::ptx
