// Packing of registers into slots, and the removal of copies.
#include "ir/slots.hpp"
#include "lowering.hpp"

#include <algorithm>

namespace assay::ir {
namespace {

TEST(Slots, WideValuesAreAligned) {
  auto p = lower_body(
      "ld.global.u32 %r1, [%d1]; ld.global.u64 %d2, [%d1]; ld.global.b128 %q1, [%d1];"
      "st.global.u32 [%d1], %r1; st.global.u64 [%d1], %d2; st.global.b128 [%d1], %q1; ret;");
  for (uint32_t i : find(*p, OpCode::st)) {
    const MemInfo& m = p->mem[p->ops[i].c];
    EXPECT_EQ(m.regs[0] % (m.register_bits / 32), 0);
  }
  EXPECT_EQ(p->register_estimate, 9u); // d1 twice, r1, d2 twice, q1 four times
}

TEST(Slots, DeadValuesGiveTheirSlotBack) {
  std::string body;
  for (int i = 0; i < 200; ++i)
    body += "ld.global.u32 %r1, [%d1]; add.u32 %r2, %r1, %r1; st.global.u32 [%d1], %r2;";
  auto p = lower_body(body + "ret;");
  EXPECT_LE(p->functions[0].slots, 4u);
}

TEST(Slots, LoopCarriedValuesKeepTheirSlot) {
  auto p = lower_body(
      "mov.u32 %r1, 0; mov.u32 %r2, 5; L: ld.global.u32 %r3, [%d1]; add.u32 %r1, %r1, %r3;"
      "add.u32 %r2, %r2, -1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L; st.global.u32 [%d1], %r1; ret;");
  const Op& ld = p->ops[find(*p, OpCode::ld).at(0)];
  Slot sum = p->mem[p->ops[find(*p, OpCode::st).at(0)].c].regs[0];
  EXPECT_NE(p->mem[ld.c].regs[0], sum);
  EXPECT_NE(ld.a, sum);
}

TEST(Slots, GuardedWritesKeepTheOldValueAlive) {
  // r1 is written twice under opposite guards; r2 must not take its slot in between.
  auto p = lower_body(
      "ld.global.u32 %r5, [%d1]; setp.eq.u32 %p1, %r5, 0; @%p1 ld.global.u32 %r1, [%d1];"
      "ld.global.u32 %r2, [%d1]; st.global.u32 [%d1], %r2; @!%p1 ld.global.u32 %r1, [%d1+4];"
      "st.global.u32 [%d1], %r1; ret;");
  auto ld = find(*p, OpCode::ld);
  Slot r1 = p->mem[p->ops[ld[1]].c].regs[0], r2 = p->mem[p->ops[ld[2]].c].regs[0];
  EXPECT_NE(r1, r2);
  EXPECT_EQ(r1, p->mem[p->ops[ld[3]].c].regs[0]);
}

TEST(Slots, WhatMayBeReadUnwrittenIsListedWithItsWidth) {
  // d1, of 64 bits, and r1 are written under a guard only; r2 always.
  auto p = lower_body("ld.param.u64 %d2, [a]; ld.global.u32 %r2, [%d2]; setp.eq.u32 %p1, %r2, 0;"
                      "@%p1 ld.global.u64 %d1, [%d2]; @%p1 ld.global.u32 %r1, [%d2];"
                      "@%p1 st.global.u64 [%d2], %d1; st.global.u32 [%d2], %r1; ret;");
  auto ld = find(*p, OpCode::ld);
  Slot d1 = p->mem[p->ops[ld.at(1)].c].regs[0], r1 = p->mem[p->ops[ld.at(2)].c].regs[0];
  std::vector<Slot> want = {d1, d1, r1};
  for (uint32_t i : find(*p, OpCode::check_written)) want.push_back(p->ops[i].a); // "is written"
  std::sort(want.begin(), want.end());
  EXPECT_EQ(want.size(), 5u);
  EXPECT_EQ(p->functions[0].undefined, want);
}

TEST(Slots, ConstantsAreSharedAndNeverReused) {
  auto p =
      lower_body("st.global.u32 [%d1], 7; st.global.u32 [%d1], 7; st.global.u64 [%d1], 7; ret;");
  ASSERT_EQ(p->functions[0].constants.size(), 2u);
  auto st = find(*p, OpCode::st);
  EXPECT_EQ(p->mem[p->ops[st[0]].c].regs[0], p->mem[p->ops[st[1]].c].regs[0]);
  EXPECT_NE(p->mem[p->ops[st[0]].c].regs[0], p->mem[p->ops[st[2]].c].regs[0]);
}

TEST(Slots, CopiesAreReadThrough) {
  auto p = lower_body(
      "ld.global.u32 %r1, [%d1]; mov.b32 %r2, %r1; mov.u32 %r3, 4; add.u32 %r4, %r2, %r3;"
      "st.global.u32 [%d1], %r4; ret;");
  EXPECT_TRUE(find(*p, OpCode::mov_b32).empty());
  EXPECT_EQ(find(*p, OpCode::add_b32).size(), 1u);
  EXPECT_EQ(p->ops.back().length, 6);
}

TEST(Slots, CopiesOfChangingRegistersStay) {
  auto p = lower_body(
      "mov.u32 %r1, 0; L: mov.u32 %r2, %r1; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r2;"
      "setp.lt.u32 %p1, %r1, 9; @%p1 bra L; ret;");
  EXPECT_EQ(find(*p, OpCode::mov_b32).size(), 2u);
}

// Lanes on other paths still own the columns of a 64-bit value that is dead on this one.
TEST(Slots, ASlotServesOneWidth) {
  auto p = lower_body(
      "ld.global.u64 %d2, [%d1]; st.global.u64 [%d1], %d2; ld.global.u32 %r1, [%d1];"
      "st.global.u32 [%d1], %r1; ld.global.u64 %d3, [%d1]; st.global.u64 [%d1], %d3; ret;");
  auto ld = find(*p, OpCode::ld);
  Slot wide = p->mem[p->ops[ld[0]].c].regs[0], narrow = p->mem[p->ops[ld[1]].c].regs[0];
  EXPECT_TRUE(narrow < wide || narrow > wide + 1);
  EXPECT_EQ(wide, p->mem[p->ops[ld[2]].c].regs[0]);
}

// The verifier of assignments is itself tested: it must see a clash.
TEST(Slots, TheVerifierSeesAClash) {
  ptx::Function source;
  VirtualFunction f;
  f.source = &source;
  f.registers.resize(3);
  VirtualOp first{.code = OpCode::activemask, .d = 0}, second{.code = OpCode::activemask, .d = 1};
  VirtualOp sum{.code = OpCode::add_b32, .d = 2, .a = 0, .b = 1}, ret{.code = OpCode::ret};
  f.ops = {first, second, sum, ret};
  f.blocks.resize(1);
  f.blocks[0].end = 4;
  auto good = assign_slots(f);
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(verify_slots(f, *good).ok());
  good->slot[1] = good->slot[0];
  EXPECT_FALSE(verify_slots(f, *good).ok());
}

} // namespace
} // namespace assay::ir
