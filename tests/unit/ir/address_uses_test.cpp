// Which kernels use an address, or another value that a machine chooses, as data: nothing is proved
// of them.
#include "lowering.hpp"

#include "ir/address_uses.hpp"

namespace assay::ir {
namespace {

// k(x, y, n): x is %d1, y is %d2, both pointers to buffers, n is %d3 and none.
bool is_data(const std::string& body, uint32_t align = 256, const std::string& before = "") {
  auto p = lower_text(
      before + ".visible .entry k(.param .u64 x, .param .u64 y, .param .u64 n)\n{\n" + kRegisters +
      "ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u64 %d3, [n];\n" + body +
      "\nret;\n}\n");
  return p && address_used_as_data(*p, {{0, 0, align}, {8, 1, align}}).has_value();
}

TEST(AddressUses, ReachingABufferIsNone) {
  EXPECT_FALSE(
      is_data("mov.u32 %r1, %tid.x; mad.wide.u32 %d4, %r1, 4, %d1; ld.global.u32 %r2, [%d4];"
              "shl.b64 %d5, %d3, 2; add.u64 %d5, %d2, %d5; st.global.u32 [%d5+4], %r2;"));
  EXPECT_FALSE(
      is_data("setp.lt.u64 %p1, %d3, 7; selp.b64 %d4, %d1, %d2, %p1; st.global.u64 [%d4], %d3;"));
  EXPECT_FALSE(
      is_data("cvt.u64.u32 %d4, 3; add.u64 %d4, %d4, %d1; st.global.u8 [%d4], 1;")); // d4 twice
}

TEST(AddressUses, OrderWithinOneBufferIsNone) {
  EXPECT_FALSE(is_data(
      "add.u64 %d4, %d1, 64; L: add.u64 %d1, %d1, 4; setp.lt.u64 %p1, %d1, %d4; @%p1 bra L;"));
  EXPECT_FALSE(is_data("add.u64 %d4, %d1, %d3; sub.u64 %d5, %d4, %d1; st.global.u64 [%d2], %d5;"));
  EXPECT_FALSE(is_data("setp.eq.u64 %p1, %d1, 0; @%p1 ret;"));
}

TEST(AddressUses, AlignmentIsKnown) {
  const std::string test = "and.b64 %d4, %d1, 127; st.global.u64 [%d2], %d4;";
  EXPECT_FALSE(is_data(test));
  EXPECT_TRUE(is_data(test, 64));
  EXPECT_FALSE(is_data("cvt.u32.u64 %r1, %d1; and.b32 %r1, %r1, 15; st.global.u32 [%d2], %r1;"));
  EXPECT_TRUE(is_data("cvt.u32.u64 %r1, %d1; and.b32 %r1, %r1, 256; st.global.u32 [%d2], %r1;"));
  EXPECT_FALSE(is_data("and.b64 %d4, %d1, -16; st.global.u32 [%d4], 1;"));
}

TEST(AddressUses, OrderOfTwoBuffersIsData) {
  EXPECT_TRUE(
      is_data("setp.lt.u64 %p1, %d1, %d2; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%d2], %r1;"));
  EXPECT_TRUE(is_data("sub.u64 %d4, %d1, %d2; st.global.u64 [%d2], %d4;"));
  EXPECT_TRUE(is_data("setp.eq.u64 %p1, %d1, 4096; @%p1 ret;"));
}

TEST(AddressUses, BitsOfAnAddressAreData) {
  EXPECT_TRUE(is_data("st.global.u64 [%d2], %d1;"));
  EXPECT_TRUE(is_data(
      "shr.u64 %d4, %d1, 8; and.b64 %d4, %d4, 63; add.u64 %d4, %d2, %d4; st.global.u8 [%d4], 1;"));
  EXPECT_TRUE(is_data("ld.param.u32 %r1, [x+4]; st.global.u32 [%d2], %r1;"));
  EXPECT_TRUE(is_data("atom.global.add.u64 %d4, [%d2], %d1;"));
  EXPECT_TRUE(is_data(
      "cvt.u32.u64 %r1, %d1; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; st.global.u32 [%d2], %r2;"));
}

TEST(AddressUses, LocalMemoryAndCallsHandAddressesOn) {
  const std::string local =
      ".local .align 8 .b8 l[8]; st.local.u64 [l], %d1; ld.local.u64 %d4, [l];";
  EXPECT_FALSE(is_data(local + "st.global.u32 [%d4], 1;"));
  EXPECT_TRUE(is_data(local + "st.global.u64 [%d2], %d4;"));
  const std::string f = ".func f(.param .u64 p)\n{ .reg .b64 %e<3>; ld.param.u64 %e1, [p];";
  const std::string call = "{ .param .b64 q; st.param.b64 [q], %d1; call.uni f, (q); }";
  EXPECT_FALSE(is_data(call, 256, f + "st.u32 [%e1], 1; ret; }\n"));
  EXPECT_TRUE(is_data(call, 256, f + "shr.u64 %e2, %e1, 8; st.u64 [%e1], %e2; ret; }\n"));
}

TEST(AddressUses, VariablesOfTheModuleLieSomewhereToo) {
  const std::string g = ".global .align 4 .u32 g[4];\n";
  EXPECT_FALSE(is_data("mov.u64 %d4, g; st.global.u32 [%d4], 1;", 256, g));
  EXPECT_TRUE(is_data("mov.u64 %d4, g; st.global.u64 [%d1], %d4;", 256, g));
}

// What of a pointer comes back from local memory by other widths than it went.
TEST(AddressUses, LocalMemoryIsFollowedByteByByte) {
  const std::string l = ".local .align 16 .b8 l[64]; st.local.u64 [l+8], %d1;";
  const std::string store = " st.global.u32 [%d2], %r2;";
  EXPECT_TRUE(is_data(l + "ld.local.u32 %r2, [l+8];" + store));
  EXPECT_TRUE(is_data(l + "ld.local.u32 %r2, [l+12];" + store));
  EXPECT_FALSE(is_data(l + "ld.local.u32 %r2, [l+16];" + store));
  EXPECT_FALSE(is_data(l + "ld.local.u32 %r2, [l+4];" + store));
  EXPECT_TRUE(is_data(l + "ld.local.v4.u32 {%r2, %r3, %r4, %r5}, [l]; st.global.u32 [%d2], %r4;"));
  EXPECT_FALSE(is_data(l + "ld.local.v4.u32 {%r2, %r3, %r4, %r5}, [l]; st.global.u32 [%d2], %r3;"));
  EXPECT_TRUE(is_data(l + "ld.local.u8 %h2, [l+11]; st.global.u8 [%d2], %h2;"));
  EXPECT_FALSE(is_data(l + "ld.local.u8 %h2, [l+7]; st.global.u8 [%d2], %h2;"));
  EXPECT_TRUE(
      is_data(l + "ld.local.f32 %f2, [l+8]; add.f32 %f2, %f2, %f2; st.global.f32 [%d2], %f2;"));
  EXPECT_TRUE(
      is_data(l + "st.local.u32 [l+12], 0; ld.local.u64 %d4, [l+8]; st.global.u8 [%d4], 1;"));
}

TEST(AddressUses, LocalMemoryAtUnknownPlaces) {
  const std::string l =
      ".local .align 16 .b8 l[64]; .local .align 16 .b8 n[64]; mov.u32 %r1, %tid.x;"
      "mul.wide.u32 %d5, %r1, 8; mov.u64 %d6, l; add.u64 %d6, %d6, %d5;"
      "mov.u64 %d7, n; add.u64 %d7, %d7, %d5; cvta.local.u64 %d8, %d6;"
      "st.local.u64 [%d6], %d1;";
  EXPECT_FALSE(is_data(l + "ld.local.u64 %d4, [%d6]; st.global.u32 [%d4], 1;"));
  EXPECT_FALSE(is_data(l + "ld.u64 %d4, [%d8+8]; st.global.u32 [%d4], 1;"));
  EXPECT_TRUE(is_data(l + "ld.local.u32 %r2, [%d6]; st.global.u32 [%d2], %r2;"));
  EXPECT_TRUE(is_data(l + "ld.u32 %r2, [%d8+4]; st.global.u32 [%d2], %r2;"));
  EXPECT_TRUE(is_data(l + "ld.local.u32 %r2, [l+20]; st.global.u32 [%d2], %r2;"));
  EXPECT_FALSE(is_data(l + "ld.local.u32 %r2, [%d7]; st.global.u32 [%d2], %r2;"));
  // An address that follows from no variable may be of any.
  EXPECT_TRUE(is_data(l + "ld.local.u32 %r2, [%d5]; st.global.u32 [%d2], %r2;"));
}

TEST(AddressUses, ArgumentsAreFollowedByTheirPlaces) {
  const std::string f = ".func f(.param .u64 p, .param .u32 n)\n{ .reg .b64 %e<3>; .reg .b32 %s<3>;"
                        "ld.param.u64 %e1, [p]; ld.param.u32 %s1, [n];";
  const std::string g = ".func g(.param .u32 n, .param .u32 m, .param .u64 p)\n{ ret; }\n";
  const std::string call =
      "{ .param .b64 q; .param .b32 r; st.param.b64 [q], %d1; st.param.b32 [r], %r3;"
      " call.uni f, (q, r); }"
      "{ .param .b32 q; .param .b32 r; .param .b64 s; st.param.b32 [q], %r3; st.param.b32 [r], %r3;"
      " st.param.b64 [s], %d1; call.uni g, (q, r, s); }";
  EXPECT_FALSE(is_data("mov.u32 %r3, 7;" + call, 256, f + "st.u32 [%e1], %s1; ret; }\n" + g));
  EXPECT_TRUE(is_data("mov.u32 %r3, 7;" + call, 256,
                      f + "ld.param.u32 %s1, [p+4]; st.u32 [%e1], %s1; ret; }\n" + g));
  EXPECT_TRUE(is_data("cvt.u32.u64 %r3, %d2;" + call, 256, f + "st.u32 [%e1], %s1; ret; }\n" + g));
}

TEST(AddressUses, ParametersByTheirOwnAddress) {
  const std::string p = "mov.b64 %d4, x; cvta.param.u64 %d5, %d4;";
  EXPECT_FALSE(is_data(p + "ld.u64 %d6, [%d5+8]; st.global.u32 [%d6], 1;"));
  EXPECT_FALSE(is_data(p + "ld.u32 %r2, [%d5+16]; st.global.u32 [%d2], %r2;"));
  EXPECT_TRUE(is_data(p + "ld.u32 %r2, [%d5+8]; st.global.u32 [%d2], %r2;"));
  EXPECT_TRUE(is_data(p + "ld.param.u16 %h2, [%d4+2]; st.global.u16 [%d2], %h2;"));
  EXPECT_TRUE(is_data(p + "st.global.u64 [%d2], %d4;"));
  EXPECT_TRUE(is_data(p + "st.global.u64 [%d2], %d5;"));
}

TEST(AddressUses, SharedMemoryLiesSomewhereToo) {
  const std::string s = ".shared .align 16 .b8 s[64]; .shared .align 16 .b8 t[64];"
                        "mov.u32 %r3, s; mov.u32 %r4, t; mov.u64 %d4, s; cvta.shared.u64 %d5, %d4;"
                        "mov.u32 %r1, %tid.x; mad.lo.u32 %r5, %r1, 4, %r3;";
  EXPECT_FALSE(
      is_data(s + "st.shared.u32 [%r5], %r1; ld.u32 %r2, [%d5+4]; st.global.u32 [%d2], %r2;"));
  EXPECT_FALSE(
      is_data(s + "cvta.to.shared.u64 %d6, %d5; cvt.u32.u64 %r6, %d6; ld.shared.u32 %r2, [%r6];"
                  "st.global.u32 [%d2], %r2;"));
  EXPECT_FALSE(is_data(s + "sub.u32 %r2, %r5, %r3; st.global.u32 [%d2], %r2;"));
  EXPECT_FALSE(is_data(s + "add.u32 %r6, %r3, 32; setp.lt.u32 %p1, %r5, %r6; @%p1 ret;"));
  EXPECT_FALSE(is_data(s + "or.b32 %r6, %r3, 8; xor.b32 %r6, %r6, 4; st.shared.u32 [%r6], %r1;"));
  EXPECT_FALSE(is_data(s + "and.b32 %r2, %r5, 15; st.global.u32 [%d2], %r2;"));
  EXPECT_FALSE(is_data(s + "setp.eq.u64 %p1, %d5, 0; @%p1 ret;"));
  EXPECT_TRUE(is_data(s + "xor.b32 %r6, %r3, 16; st.shared.u32 [%r6], %r1;"));
  EXPECT_TRUE(is_data(s + "setp.eq.u32 %p1, %r3, 0; @%p1 ret;"));
  EXPECT_TRUE(is_data(s + "st.global.u32 [%d2], %r3;"));
  EXPECT_TRUE(is_data(s + "st.global.u64 [%d2], %d5;"));
  EXPECT_TRUE(is_data(s + "sub.u32 %r2, %r4, %r3; st.global.u32 [%d2], %r2;"));
  EXPECT_TRUE(is_data(s + "st.shared.u32 [%r5], %r4;"));
}

TEST(AddressUses, LocalAddressesAreData) {
  const std::string l = ".local .align 8 .b8 l[64]; mov.u64 %d4, l; cvta.local.u64 %d5, %d4;";
  EXPECT_FALSE(
      is_data(l + "st.u32 [%d5+4], 1; ld.local.u32 %r2, [%d4+4]; st.global.u32 [%d2], %r2;"));
  EXPECT_FALSE(
      is_data(l + "add.u64 %d6, %d5, 8; sub.u64 %d6, %d6, %d5; st.global.u64 [%d2], %d6;"));
  EXPECT_TRUE(is_data(l + "st.global.u64 [%d2], %d4;"));
  EXPECT_TRUE(is_data(l + "st.global.u64 [%d2], %d5;"));
  EXPECT_TRUE(is_data("alloca.u64 %d4, 16; st.global.u64 [%d2], %d4;"));
  EXPECT_TRUE(is_data("stacksave.u64 %d4; st.global.u64 [%d2], %d4;"));
  EXPECT_FALSE(is_data(
      "stacksave.u64 %d4; alloca.u64 %d5, 16; st.local.u32 [%d5], 1; stackrestore.u64 %d4;"));
}

TEST(AddressUses, FunctionsAndTablesOfAddresses) {
  const std::string f = ".func f()\n{ ret; }\n.func h()\n{ ret; }\n.global .align 8 .u64 g;\n"
                        ".global .align 8 .u64 t[2] = {f, h};\n.const .align 8 .u64 c[1] = {g};\n"
                        ".global .align 8 .u64 n[2] = {1, 2};\n";
  const std::string call = "{ P: .callprototype _ (); call %d4, (), P; }";
  EXPECT_FALSE(is_data("mov.u64 %d4, f;" + call, 256, f));
  EXPECT_FALSE(is_data("ld.global.u64 %d4, [t+8];" + call, 256, f));
  EXPECT_FALSE(is_data("ld.const.u64 %d4, [c]; st.global.u32 [%d4], 1;", 256, f));
  EXPECT_FALSE(is_data("ld.global.u64 %d4, [n]; st.global.u64 [%d2], %d4;", 256, f));
  EXPECT_TRUE(is_data("mov.u64 %d4, f; st.global.u64 [%d2], %d4;", 256, f));
  EXPECT_TRUE(is_data("ld.global.u64 %d4, [t+8]; st.global.u64 [%d2], %d4;", 256, f));
  EXPECT_TRUE(is_data("ld.global.u32 %r2, [t]; st.global.u32 [%d2], %r2;", 256, f));
  EXPECT_TRUE(is_data(
      "mov.u64 %d5, t; add.u64 %d5, %d5, 8; ld.u64 %d4, [%d5]; st.global.u64 [%d2], %d4;", 256, f));
  EXPECT_TRUE(is_data("ld.const.u64 %d4, [c]; st.global.u64 [%d2], %d4;", 256, f));
  EXPECT_TRUE(is_data(".shared .align 8 .b8 s[8]; cp.async.ca.shared.global [s], [t], 8;", 256, f));
}

TEST(AddressUses, WhatOnlyAMachineKnowsIsOpaque) {
  const std::string b = ".shared .align 8 .b8 b[8]; mbarrier.arrive.shared.b64 %d4, [b];";
  EXPECT_FALSE(is_data(b + "mbarrier.test_wait.shared.b64 %p1, [b], %d4; @%p1 ret;"));
  EXPECT_TRUE(is_data(b + "st.global.u64 [%d2], %d4;"));
  EXPECT_TRUE(is_data(b + "shr.u64 %d5, %d4, 63; mbarrier.test_wait.shared.b64 %p1, [b], %d5;"));
  const std::string p = "createpolicy.fractional.L2::evict_last.b64 %d4, 1.0;";
  EXPECT_FALSE(
      is_data(p + "ld.global.L2::cache_hint.u32 %r2, [%d1], %d4; st.global.u32 [%d2], %r2;"));
  EXPECT_TRUE(is_data(p + "st.global.u64 [%d2], %d4;"));
  EXPECT_TRUE(is_data("mov.u32 %r2, %envreg1; st.global.u32 [%d2], %r2;"));
}

TEST(AddressUses, RegistersOfWmmaFragments) {
  const std::string load =
      "wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%r1,%r2,%r3,%r4}, [%d1], 8;";
  EXPECT_FALSE(is_data(load));
  EXPECT_TRUE(is_data(load + "st.global.u32 [%d2], %r1;"));
  const std::string sum = "wmma.load.c.sync.aligned.row.m16n16k16.global.f32 "
                          "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [%d1], 16;"
                          "mul.f32 %f1, %f1, %f1;";
  EXPECT_FALSE(is_data(sum + "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d2], "
                             "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, 16;"));
  EXPECT_TRUE(is_data(sum + "st.global.f32 [%d2], %f1;"));
}

} // namespace
} // namespace assay::ir
