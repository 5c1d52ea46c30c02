// Which kernels use the address of a buffer as data: nothing is proved of them.
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

} // namespace
} // namespace assay::ir
