// The call ABI through local memory, function tables, the device runtime.
#include "lowering.hpp"

namespace assay::ir {
namespace {

constexpr const char* kAddOne =
    ".func (.param .b32 r) f(.param .b32 x, .param .align 8 .b8 s[12])\n"
    "{ .reg .b32 %r<4>; ld.param.u32 %r1, [x]; ld.param.u32 %r2, [s+4]; add.s32 %r3, %r1, %r2;"
    " st.param.b32 [r], %r3; ret; }\n";

TEST(Call, ArgumentsStandWhereTheCalleeReads) {
  auto p = lower_body(
      "{ .param .b32 p0; .param .align 8 .b8 p1[12]; .param .b32 q; st.param.b32 [p0], %r1;"
      " st.param.b32 [p1+4], %r2; call.uni (q), f, (p0, p1); ld.param.b32 %r3, [q]; }"
      "st.global.u32 [%d1], %r3; ret;",
      kAddOne);
  ASSERT_EQ(p->functions.size(), 2u);
  EXPECT_EQ(p->functions[1].name, "f");
  auto st = find(*p, OpCode::st);
  auto ld = find(*p, OpCode::ld);
  uint32_t base = p->functions[0].local_bytes;
  EXPECT_EQ(p->ops[st[0]].imm, base + 0u);
  EXPECT_EQ(p->ops[st[1]].imm, base + 8u + 4);
  EXPECT_EQ(p->ops[ld[0]].imm, base + 20u); // the caller reads the result
  EXPECT_EQ(p->ops[ld[1]].imm, 0u);         // the callee reads its parameters
  EXPECT_EQ(p->ops[ld[2]].imm, 12u);
  EXPECT_EQ(p->ops[st[3]].imm, 20u); // and stores its result
  EXPECT_TRUE(p->mem[p->ops[st[0]].c].frame);
  EXPECT_EQ(p->ops[find(*p, OpCode::call).at(0)].imm, 1u);
  EXPECT_TRUE(p->has_calls);
  EXPECT_FALSE(p->functions[1].recursive);
}

TEST(Call, ParametersAtFunctionScopeAreCopied) {
  auto p = lower_body(
      ".param .b32 p0; .param .align 8 .b8 p1[12]; .param .b32 q; st.param.b32 [p0], %r1;"
      "call (q), f, (p0, p1); ld.param.b32 %r3, [q]; st.global.u32 [%d1], %r3; ret;",
      kAddOne);
  uint32_t base = p->functions[0].local_bytes;
  EXPECT_GE(base, 20u);
  EXPECT_LT(p->ops[find(*p, OpCode::st).at(0)].imm, base); // p0 is a local variable
  unsigned outgoing = 0;
  for (uint32_t i : find(*p, OpCode::st))
    outgoing += i < p->functions[1].entry && p->mem[p->ops[i].c].frame && p->ops[i].imm >= base;
  EXPECT_EQ(outgoing, 3u); // p0, and p1 in two pieces
}

TEST(Call, RegistersAsParameters) {
  auto p =
      lower_body("call (%r3), g, (%r1, 5); st.global.u32 [%d1], %r3; ret;",
                 ".func (.reg .b32 r) g(.reg .b32 x, .reg .b32 y) { add.s32 r, x, y; ret; }\n");
  EXPECT_EQ(find(*p, OpCode::call).size(), 1u);
  EXPECT_EQ(find(*p, OpCode::unsupported).size(), 0u);
  EXPECT_EQ(find(*p, OpCode::add_b32).size(), 1u);
}

TEST(Call, RecursionAndIndirectCalls) {
  auto p = lower_body(
      "ld.global.u64 %d2, [table+8]; { .param .b32 p0; .param .b32 q; st.param.b32 [p0], %r1;"
      " P: .callprototype (.param .b32 _) _ (.param .b32 _); call (q), %d2, (p0), P;"
      " ld.param.b32 %r3, [q]; } st.global.u32 [%d1], %r3; ret;",
      ".func (.param .b32 r) f1(.param .b32 x);\n.func (.param .b32 r) f2(.param .b32 x);\n"
      ".global .u64 table[2] = {f1, f2};\n"
      ".func (.param .b32 r) f1(.param .b32 x) { ret; }\n"
      ".func (.param .b32 r) f2(.param .b32 x) { .reg .b32 %r<2>; .reg .pred %p<2>; "
      "@%p1 bra E; { .param .b32 p0; .param .b32 q;"
      " call (q), f2, (p0); } E: ret; }\n");
  ASSERT_EQ(p->functions.size(), 3u);
  uint64_t pointer = 0;
  memcpy(&pointer, p->globals[0].init.data() + 8, 8);
  uint64_t index = (pointer - window_base(kFunctionWindow)) / 16;
  EXPECT_EQ(p->functions.at(index).name, "f2");
  EXPECT_TRUE(p->functions[index].recursive);
  EXPECT_FALSE(p->functions[0].recursive);
  EXPECT_EQ(find(*p, OpCode::call_indirect).size(), 1u);
}

TEST(Call, DeviceFunctionsReturnInOnePlace) {
  auto p =
      lower_body("call f; ret;",
                 ".func f() { .reg .pred %p<3>; .reg .b64 %d<2>; .reg .b32 %r<3>;"
                 " @%p1 ret; @%p2 bra L; st.u32 [%d1], %r1; ret; L: st.u32 [%d1], %r2; ret; }\n");
  unsigned rets = 0;
  for (uint32_t i : find(*p, OpCode::ret)) rets += i >= p->functions[1].entry;
  EXPECT_EQ(rets, 1u);
  for (uint32_t i : find(*p, OpCode::branch)) EXPECT_NE(uint32_t(p->ops[i].imm >> 32), kNoIndex);
}

TEST(Call, DeviceRuntime) {
  auto p = lower_body(
      "{ .param .b64 p0; .param .b64 p1; .param .b32 q; st.param.b64 [p0], %d1; st.param.b64 [p1], "
      "%d2;"
      " call.uni (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; }"
      "{ .param .b64 p0; .param .b64 q; st.param.b64 [p0], %d1; call.uni (q), malloc, (p0);"
      " ld.param.b64 %d3, [q]; } { .param .b64 p0; st.param.b64 [p0], %d3; call.uni free, (p0); }"
      "{ .param .b64 p0; call.uni (p0), unknown_function, (); } ret;",
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 a);\n"
      ".extern .func (.param .b64 r) unknown_function();\n");
  EXPECT_EQ(find(*p, OpCode::vprintf).size(), 1u);
  EXPECT_EQ(find(*p, OpCode::malloc_).size(), 1u);
  EXPECT_EQ(find(*p, OpCode::free_).size(), 1u);
  EXPECT_EQ(find(*p, OpCode::unsupported).size(), 1u);
  EXPECT_EQ(p->functions.size(), 1u);
}

TEST(Call, LocalVariablesAndAddressesOfParameters) {
  auto p = lower_body(
      "{ .param .b64 p0; .param .b32 q; call (q), f, (p0); } ret;",
      ".func (.param .b32 r) f(.param .b64 x) { .local .align 16 .b8 depot[24];"
      " .reg .b64 %d<4>; .reg .b32 %r<3>; mov.b64 %d1, depot; mov.b64 %d2, x;"
      " st.local.u32 [%d1], %r1; ld.param.u32 %r2, [%d2]; st.local.u32 [depot+8], %r2; ret; }\n");
  auto frames = find(*p, OpCode::frame_address);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(p->ops[frames[0]].imm, 16u);
  EXPECT_EQ(p->ops[frames[1]].imm, 0u);
  EXPECT_EQ(p->functions[1].local_bytes, 48u);
  auto st = find(*p, OpCode::st);
  EXPECT_EQ(p->ops[st.back()].imm, 24u);
  EXPECT_TRUE(p->mem[p->ops[st.back()].c].frame);
}

} // namespace
} // namespace assay::ir
