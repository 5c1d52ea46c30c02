// Source places with inlining, and the search for kernels by name.
#include "lowering.hpp"

namespace assay::ir {
namespace {

TEST(Source, LineAndInliningChain) {
  auto p =
      lower_text(".visible .entry _Z1kPi(.param .u64 a)\n{\n.reg .b64 %d<3>; .reg .b32 %r<3>;\n"
                 "ld.param.u64 %d1, [a];\n.loc 1 10 3\nld.global.u32 %r1, [%d1];\n"
                 ".loc 2 7 5, function_name $L__info, inlined_at 1 11 9\n"
                 "st.global.u32 [%d1], %r1;\nret;\n}\n.file 1 \"k.cu\"\n.file 2 \"lib.cuh\"\n",
                 "_Z1kPi");
  SourcePlace inner = place(*p, find(*p, OpCode::st).at(0));
  ASSERT_EQ(inner.frames.size(), 2u);
  EXPECT_EQ(inner.frames[0].file, "lib.cuh");
  EXPECT_EQ(inner.frames[0].line, 7u);
  EXPECT_EQ(inner.frames[1].file, "k.cu");
  EXPECT_EQ(inner.frames[1].line, 11u);
  EXPECT_EQ(inner.frames[1].function, "k(int*)");
  EXPECT_EQ(inner.function, "k(int*)");
  EXPECT_EQ(inner.text(), "lib.cuh:7");
  EXPECT_GT(inner.ptx_line, 0u);
  SourcePlace outer = place(*p, find(*p, OpCode::ld).at(0));
  ASSERT_EQ(outer.frames.size(), 1u);
  EXPECT_EQ(outer.frames[0].line, 10u);
}

// LLVM's back end writes no inlined_at; its DWARF has the calls between two labels.
TEST(Source, InliningChainOfDwarf) {
  const char* text = R"(.visible .entry k(.param .u64 a)
{
.reg .b64 %d<3>; .reg .b32 %r<3>;
ld.param.u64 %d1, [a];
.loc 1 10 3 // k.py:10:3
ld.global.u32 %r1, [%d1];
$L__tmp0:
.loc 2 7 5
add.s32 %r2, %r1, 1;
$L__tmp1:
st.global.u32 [%d1], %r2;
$L__tmp2:
.loc 2 7 5
st.global.u32 [%d1+4], %r2;
$L__tmp3:
ret;
}
.file 1 "k.py"
.file 2 "triton/language/standard.py"
.section .debug_abbrev
{
.b8 1
.b8 17
.b8 1
.b8 19 // DW_AT_language
.b8 5
.b8 0
.b8 0
.b8 2
.b8 29 // DW_TAG_inlined_subroutine
.b8 1
.b8 17
.b8 1
.b8 18
.b8 1
.b8 88
.b8 11
.b8 89
.b8 5
.b8 87
.b8 11
.b8 0
.b8 0
.b8 0
}
.section .debug_info
{
.b32 60 // Length of Unit
.b8 2
.b8 0
.b32 .debug_abbrev
.b8 8
.b8 1
.b8 2
.b8 0
.b8 2
.b64 $L__tmp0
.b64 $L__tmp3
.b8 1
.b8 44 // DW_AT_call_line
.b8 1
.b8 9
.b8 2
.b64 $L__tmp1
.b64 $L__tmp2
.b8 2
.b8 191
.b8 0
.b8 40
.b8 0
.b8 0
.b8 0
}
)";
  auto p = lower_text(text, "k");
  SourcePlace outside = place(*p, find(*p, OpCode::ld).at(0));
  EXPECT_EQ(outside.frames.size(), 1u);
  SourcePlace twice = place(*p, find(*p, OpCode::st).at(0));
  ASSERT_EQ(twice.frames.size(), 3u);
  EXPECT_EQ(twice.frames[0].line, 7u);
  EXPECT_EQ(twice.frames[1].file, "triton/language/standard.py");
  EXPECT_EQ(twice.frames[1].line, 191u);
  EXPECT_EQ(twice.frames[2].file, "k.py");
  EXPECT_EQ(twice.frames[2].line, 300u);
  EXPECT_EQ(twice.frames[2].column, 9u);
  SourcePlace once = place(*p, find(*p, OpCode::st).at(1));
  ASSERT_EQ(once.frames.size(), 2u);
  EXPECT_EQ(once.frames[1].line, 300u);
}

TEST(Source, WithoutLineInformationThePtxLineCounts) {
  auto p = lower_body("st.global.u32 [%d1], %r1; ret;");
  SourcePlace s = place(*p, find(*p, OpCode::st).at(0));
  EXPECT_FALSE(s.has_source());
  EXPECT_EQ(s.text().rfind("test.ptx:", 0), 0u);
}

TEST(Source, KernelsByEveryName) {
  auto m = module_of(
      ".visible .entry _Z1kIfLi4EEvPT_i() { ret; }\n.visible .entry _Z1kIfLi8EEvPT_i() { ret; }\n"
      ".visible .entry _ZN2ns5otherEv() { ret; }\n");
  for (const char* name :
       {"_Z1kIfLi4EEvPT_i", "k<float, 4>", "k<float,4>", "void k<float, 4>(float*, int)"}) {
    auto r = find_entry(*m, name);
    ASSERT_TRUE(r.ok()) << name;
    EXPECT_EQ(*r, "_Z1kIfLi4EEvPT_i") << name;
  }
  EXPECT_EQ(*find_entry(*m, "other"), "_ZN2ns5otherEv");
  EXPECT_EQ(*find_entry(*m, "ns::other"), "_ZN2ns5otherEv");
  auto several = find_entry(*m, "k");
  ASSERT_FALSE(several.ok());
  EXPECT_EQ(several.error().notes.size(), 2u);
  auto none = find_entry(*m, "nothing");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().notes.size(), 3u);
  EXPECT_FALSE(find_entry(*m, "").ok());
}

TEST(Source, UnknownEntryIsAUsageError) {
  auto m = module_of(".visible .entry k() { ret; }\n");
  auto r = lower(m, "j");
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().code, ErrorCode::usage);
}

} // namespace
} // namespace assay::ir
