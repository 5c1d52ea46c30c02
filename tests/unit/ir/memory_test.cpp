// Addresses, spaces, register widths, qualifiers, atomics, cp.async, matrices.
#include "lowering.hpp"

namespace assay::ir {
namespace {

const MemInfo& mem(const Program& p, OpCode code, size_t n = 0) {
  return p.mem[p.ops[find(p, code).at(n)].c];
}

TEST(Memory, KernelParametersHaveAbsoluteOffsets) {
  auto p = lower_body("ld.param.u16 %r1, [n]; st.global.u32 [%d1+8], %r1; ret;");
  const Op& ld = p->ops[find(*p, OpCode::ld).at(0)];
  EXPECT_EQ(ld.a, kNoSlot);
  EXPECT_EQ(ld.imm, 8u);
  EXPECT_EQ(mem(*p, OpCode::ld).space, ptx::Space::param_entry);
  EXPECT_EQ(p->ops[find(*p, OpCode::st).at(0)].imm, 8u);
  EXPECT_EQ(p->parameter_bytes, 12u);
}

TEST(Memory, WhatTheLaunchFixesIsAConstantOfTheFrame) {
  auto p = lower_body("ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; add.u32 %r3, %r1, %r2;"
                      "st.global.u32 [%d1], %r3; ret;");
  EXPECT_TRUE(find(*p, OpCode::ld).empty());
  EXPECT_TRUE(find(*p, OpCode::special).empty());
  std::vector<Constant::Source> sources;
  for (const Constant& c : p->functions[0].constants) sources.push_back(c.source);
  using S = Constant::Source;
  EXPECT_EQ(std::count(sources.begin(), sources.end(), S::parameter), 1);
  EXPECT_EQ(std::count(sources.begin(), sources.end(), S::special), 1);
  EXPECT_EQ(p->ops.back().length, 5); // instructions still count
}

TEST(Memory, AnAddressThatIsComputedOnceIsFixed) {
  auto p = lower_body("ld.param.u64 %d2, [a]; mov.u32 %r2, %tid.x; mul.wide.u32 %d3, %r2, 4;"
                      "add.s64 %d4, %d2, %d3; ld.global.u32 %r3, [%d4]; st.global.u32 [%d4+4], %r3;"
                      "ld.global.u32 %r4, [%d2]; st.global.u32 [%d2+8], %r4; ret;");
  const uint8_t first = mem(*p, OpCode::ld, 0).fixed, second = mem(*p, OpCode::ld, 1).fixed;
  EXPECT_NE(first, 0);
  EXPECT_NE(second, 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(mem(*p, OpCode::st, 0).fixed, first);
  EXPECT_EQ(mem(*p, OpCode::st, 1).fixed, second);
}

TEST(Memory, AnAddressThatMayChangeIsNotFixed) {
  // Computed anew at each turn of a loop; written twice; written under a guard; written on one
  // path.
  for (const char* body :
       {"mov.u32 %r1, 0; L: mul.wide.u32 %d3, %r1, 4; ld.global.u32 %r3, [%d3]; add.u32 %r1, %r1, "
        "1;"
        "setp.lt.u32 %p1, %r1, %r3; @%p1 bra L; ret;",
        "ld.param.u64 %d3, [a]; add.s64 %d3, %d3, 4; ld.global.u32 %r3, [%d3];"
        "st.global.u32 [%d1], %r3; ret;",
        "ld.param.u64 %d2, [a]; @%p1 add.s64 %d3, %d2, 4; ld.global.u32 %r3, [%d3];"
        "st.global.u32 [%d1], %r3; ret;",
        "ld.param.u64 %d2, [a]; @%p1 bra L; add.s64 %d3, %d2, 4; L: ld.global.u32 %r3, [%d3];"
        "st.global.u32 [%d1], %r3; ret;"}) {
    auto p = lower_body(body);
    auto loads = find(*p, OpCode::ld);
    EXPECT_EQ(p->mem[p->ops[loads.back()].c].fixed, 0) << body;
  }
}

TEST(Memory, ARegisterWrittenTwiceIsNoConstant) {
  auto p = lower_body("ld.param.u32 %r1, [n]; add.u32 %r1, %r1, 1; mov.u32 %r2, %tid.x;"
                      "@%p1 mov.u32 %r2, %ctaid.x; add.u32 %r1, %r1, %r2;"
                      "st.global.u32 [%d1], %r1; ret;");
  EXPECT_EQ(find(*p, OpCode::ld).size(), 1u);
  EXPECT_FALSE(find(*p, OpCode::special).empty());
}

TEST(Memory, ClocksAreReadWhereTheyStand) {
  auto p = lower_body("mov.u32 %r1, %clock; st.global.u32 [%d1], %r1; ret;");
  EXPECT_EQ(find(*p, OpCode::special).size(), 1u);
}

TEST(Memory, NarrowLoadsKnowTheirRegisters) {
  auto p = lower_body("ld.global.s8 %r1, [%d1]; ld.global.u8 %h1, [%d1]; ld.global.s16 %d2, [%d1];"
                      "st.global.v4.u16 [%d1], {%h1, %h2, %h3, %h1}; st.global.u32 [%d1], %r1;"
                      "st.global.u64 [%d1], %d2; ret;");
  EXPECT_EQ(mem(*p, OpCode::ld, 0).register_bits, 32);
  EXPECT_EQ(mem(*p, OpCode::ld, 0).bytes, 1);
  EXPECT_EQ(mem(*p, OpCode::ld, 0).type, ptx::Type::s8);
  EXPECT_EQ(mem(*p, OpCode::ld, 1).register_bits, 16);
  EXPECT_EQ(mem(*p, OpCode::ld, 2).register_bits, 64);
  EXPECT_EQ(mem(*p, OpCode::st, 0).vector, 4);
  EXPECT_EQ(mem(*p, OpCode::st, 0).regs[0], mem(*p, OpCode::st, 0).regs[3]);
}

TEST(Memory, RegistersKeepTheirNames) {
  std::string body;
  for (int i = 1; i < 30; ++i) {
    std::string r = "%r" + std::to_string(i);
    body += "ld.global.u32 " + r + ", [%d1+" + std::to_string(4 * i) + "];";
  }
  for (int i = 1; i < 30; ++i)
    body += "st.global.u32 [%d1+" + std::to_string(4 * i) + "], %r" + std::to_string(i) + ";";
  auto p = lower_body(body + "ret;");
  for (size_t i = 0; i < 29; ++i)
    EXPECT_EQ(mem(*p, OpCode::ld, i).regs[0], mem(*p, OpCode::st, i).regs[0]);
}

TEST(Memory, SharedVariablesStandInOrderWithTheirAlignment) {
  auto p = lower_body(
      "st.shared.u8 [s1], %r1; st.shared.u32 [s2+4], %r1; st.shared.u32 [dyn], %r1; ret;",
      ".shared .u8 s1; .shared .align 16 .b8 s2[20]; .shared .u32 unused;"
      ".extern .shared .align 128 .b8 dyn[];\n");
  auto st = find(*p, OpCode::st);
  EXPECT_EQ(p->ops[st[0]].imm, 0u);
  EXPECT_EQ(p->ops[st[1]].imm, 20u);
  EXPECT_EQ(p->ops[st[2]].imm, 128u);
  EXPECT_EQ(p->static_shared_bytes, 128u);
}

TEST(Memory, GlobalsHaveWindowsAndInitialValues) {
  auto p =
      lower_body("ld.global.u32 %r1, [x+4]; ld.const.u32 %r2, [c]; st.global.u32 [%d1], %r1;"
                 "st.global.u32 [%d1], %r2; ret;",
                 ".global .u32 x[2] = {7, 9}; .const .u32 c = 5; .global .u64 q = generic(x)+4;"
                 ".global .align 1 .b8 z[3];\n");
  ASSERT_EQ(p->globals.size(), 4u);
  EXPECT_EQ(p->globals[0].address, window_base(0x8000));
  EXPECT_EQ(p->globals[1].address, window_base(0x8001));
  EXPECT_TRUE(p->globals[1].read_only);
  EXPECT_EQ(p->globals[0].init, (std::vector<uint8_t>{7, 0, 0, 0, 9, 0, 0, 0}));
  uint64_t pointer = 0;
  memcpy(&pointer, p->globals[2].init.data(), 8);
  EXPECT_EQ(pointer, window_base(0x8000) + 4);
  EXPECT_FALSE(p->globals[3].has_init);
  EXPECT_EQ(p->ops[find(*p, OpCode::ld).at(0)].imm, window_base(0x8000) + 4);
}

TEST(Memory, QualifiersOfTheMemoryModel) {
  auto p = lower_body("ld.acquire.gpu.global.u32 %r1, [%d1]; ld.volatile.shared.u32 %r2, [%r3];"
                      "st.release.cta.u32 [%d1], %r1; st.relaxed.sys.global.u32 [%d1], %r2;"
                      "ld.global.nc.u32 %r4, [%d1]; st.u32 [%d1], %r4; ret;");
  EXPECT_EQ(mem(*p, OpCode::ld, 0).semantics, Semantics::acquire);
  EXPECT_EQ(mem(*p, OpCode::ld, 0).scope, Scope::gpu);
  EXPECT_EQ(mem(*p, OpCode::ld, 1).semantics, Semantics::volatile_);
  EXPECT_EQ(mem(*p, OpCode::ld, 1).scope, Scope::sys);
  EXPECT_FALSE(mem(*p, OpCode::ld, 1).address64);
  EXPECT_TRUE(mem(*p, OpCode::ld, 2).nc);
  EXPECT_EQ(mem(*p, OpCode::st, 0).semantics, Semantics::release);
  EXPECT_EQ(mem(*p, OpCode::st, 0).space, ptx::Space::none);
  EXPECT_EQ(mem(*p, OpCode::st, 1).scope, Scope::sys);
  EXPECT_EQ(mem(*p, OpCode::st, 2).semantics, Semantics::weak);
}

TEST(Memory, Atomics) {
  auto p = lower_body(
      "atom.global.add.u32 %r1, [%d1], 1; atom.acq_rel.cta.shared.cas.b64 %d2, [%r2], %d3, %d4;"
      "red.global.add.f32 [%d1], %f1; atom.global.exch.b32 _, [%d1], %r1;"
      "st.global.u64 [%d1], %d2; ret;");
  EXPECT_EQ(mem(*p, OpCode::atom, 0).atomic, AtomicOp::add);
  EXPECT_EQ(mem(*p, OpCode::atom, 0).semantics, Semantics::relaxed);
  EXPECT_EQ(mem(*p, OpCode::atom, 0).scope, Scope::gpu);
  EXPECT_EQ(mem(*p, OpCode::atom, 1).atomic, AtomicOp::cas);
  EXPECT_EQ(mem(*p, OpCode::atom, 1).scope, Scope::cta);
  EXPECT_NE(mem(*p, OpCode::atom, 1).regs[1], kNoSlot);
  EXPECT_EQ(mem(*p, OpCode::red).atomic, AtomicOp::add);
  EXPECT_EQ(p->ops[find(*p, OpCode::atom).at(2)].d, kNoSlot);
}

TEST(Memory, AsynchronousCopies) {
  auto p = lower_body("cp.async.ca.shared.global [%r1], [%d1+16], 8, %r2; "
                      "cp.async.cg.shared.global [%r1+4], [%d1], 16;"
                      "cp.async.commit_group; cp.async.wait_group 1; cp.async.wait_all; ret;");
  const MemInfo& m = mem(*p, OpCode::cp_async);
  EXPECT_EQ(m.cp_bytes, 8);
  EXPECT_EQ(m.offset2, 16);
  EXPECT_NE(m.src_size, kNoSlot);
  EXPECT_EQ(mem(*p, OpCode::cp_async, 1).cp_bytes, 16);
  EXPECT_EQ(p->ops[find(*p, OpCode::cp_async_wait).at(0)].imm, 1u);
  EXPECT_EQ(p->ops[find(*p, OpCode::cp_async_wait).at(1)].imm, kNoIndex);
}

TEST(Memory, MatrixLoadsMeetFirst) {
  auto p = lower_body("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];"
                      "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5], {%r1, %r2}; ret;");
  auto at = find(*p, OpCode::ldmatrix).at(0);
  EXPECT_EQ(p->ops[at - 1].code, OpCode::meet);
  EXPECT_EQ(mem(*p, OpCode::ldmatrix).matrices, 4);
  EXPECT_TRUE(mem(*p, OpCode::ldmatrix).trans);
  EXPECT_EQ(mem(*p, OpCode::stmatrix).matrices, 2);
}

TEST(Memory, FragmentsAreTilesOfMma) {
  auto p = lower_body(
      "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
      "[%d1];"
      "wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%r8, %r9, %r10, %r11, %r12, %r13, %r14, "
      "%r15}, [%d1+512], %r20;"
      "wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7},"
      " {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15},"
      " {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};"
      "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d1], {%f0, %f1, %f2, %f3, %f4, %f5, "
      "%f6, %f7}, 16; ret;");
  EXPECT_EQ(find(*p, OpCode::mma).size(), 2u);
  EXPECT_EQ(find(*p, OpCode::ld).size(), 4u + 8u); // pairs side by side, and single halves of B
  EXPECT_EQ(find(*p, OpCode::st).size(), 8u);
  EXPECT_EQ(find(*p, OpCode::unsupported).size(), 0u);
  EXPECT_EQ(p->ops[find(*p, OpCode::ld).at(1)].imm, 8u * 16 * 2); // eight rows further
}

TEST(Memory, AddressPatterns) {
  auto p =
      lower_body("mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;"
                 "mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.s32 %d2, %r4, 4; ld.param.u64 %d1, [a];"
                 "cvta.to.global.u64 %d1, %d1; add.s64 %d3, %d1, %d2; ld.global.f32 %f1, [%d3];"
                 "ld.global.f32 %f2, [%d1+4]; shl.b64 %d4, %d2, 1; add.s64 %d4, %d1, %d4;"
                 "ld.global.f32 %f3, [%d4]; st.global.f32 [%d1], %f1; st.global.f32 [%d1], %f2;"
                 "st.global.f32 [%d1], %f3; ret;");
  EXPECT_EQ(mem(*p, OpCode::ld, 1).pattern, AddressPattern::affine);
  EXPECT_EQ(mem(*p, OpCode::ld, 2).pattern, AddressPattern::uniform);
  EXPECT_EQ(mem(*p, OpCode::ld, 3).pattern, AddressPattern::unknown);
}

TEST(Memory, GenericAddressesAreWindows) {
  auto p = lower_body("mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; st.u32 [%d2], %r1;"
                      "cvta.to.shared.u64 %d3, %d2; st.shared.u32 [%d3], %r1; ret;",
                      ".shared .u32 s;\n");
  EXPECT_EQ(find(*p, OpCode::add_b64).size(), 1u);
  EXPECT_EQ(find(*p, OpCode::sub_b64).size(), 1u);
  bool window = false;
  for (const Constant& c : p->functions[0].constants)
    window |= c.wide && c.value == window_base(kSharedWindow);
  EXPECT_TRUE(window);
}

} // namespace
} // namespace assay::ir
