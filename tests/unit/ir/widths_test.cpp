// Widths of operands: what the verifier of widths sees, and what users are told.
#include "ir/verify_widths.hpp"
#include "lowering.hpp"

namespace assay::ir {
namespace {

// A function with one register of each width, by its letter.
struct Registers {
  VirtualFunction f;
  uint32_t p, h, r, q, o, constant;
  Registers() {
    auto add = [&](uint8_t bits) {
      f.registers.push_back({.bits = bits});
      return uint32_t(f.registers.size() - 1);
    };
    p = add(1), h = add(16), r = add(32), q = add(64), o = add(128);
    constant = add(32);
    f.registers[constant].constant = true;
  }
  bool good(VirtualOp op) const { return width_problem(f, op).empty(); }
};

TEST(Widths, PureOperationsHaveTheirSignatures) {
  Registers x;
  using C = OpCode;
  EXPECT_TRUE(x.good({.code = C::add_b64, .d = x.q, .a = x.q, .b = x.q}));
  EXPECT_FALSE(x.good({.code = C::add_b64, .d = x.r, .a = x.q, .b = x.q}));
  EXPECT_FALSE(x.good({.code = C::add_b64, .d = x.q, .a = x.q, .b = x.r}));
  EXPECT_FALSE(x.good({.code = C::add_b64, .d = x.q, .a = x.q}));
  EXPECT_TRUE(x.good({.code = C::mul_wide_u32, .d = x.q, .a = x.r, .b = x.constant}));
  EXPECT_TRUE(x.good({.code = C::selp_b32, .d = x.r, .a = x.r, .b = x.r, .c = x.p}));
  EXPECT_FALSE(x.good({.code = C::selp_b32, .d = x.r, .a = x.r, .b = x.r, .c = x.r}));
  EXPECT_FALSE(x.good({.code = C::add_b32, .d = x.p, .a = x.r, .b = x.r}));
  // One operation for numbers and predicates.
  EXPECT_TRUE(x.good({.code = C::and_b32, .d = x.p, .a = x.p, .b = x.p}));
  EXPECT_TRUE(x.good({.code = C::and_b32, .d = x.r, .a = x.r, .b = x.r}));
  EXPECT_FALSE(x.good({.code = C::and_b32, .d = x.q, .a = x.r, .b = x.r}));
  EXPECT_TRUE(x.good({.code = C::pack_b128, .d = x.o, .a = x.q, .b = x.q}));
  EXPECT_FALSE(
      x.good({.code = C::add_b32, .flags = kGuarded, .d = x.r, .a = x.r, .b = x.r, .guard = x.r}));
}

TEST(Widths, AccessesFitTheirRegisters) {
  Registers x;
  VirtualMem m;
  m.info.bytes = 8;
  m.info.register_bits = 64;
  m.regs[0] = x.q;
  x.f.mems.push_back(m);
  EXPECT_TRUE(x.good({.code = OpCode::ld, .a = x.q, .c = 0}));
  EXPECT_TRUE(x.good({.code = OpCode::ld, .c = 0})) << "an absolute address";
  EXPECT_FALSE(x.good({.code = OpCode::ld, .a = x.r, .c = 0}));
  x.f.mems[0].info.bytes = 16;
  EXPECT_FALSE(x.good({.code = OpCode::ld, .a = x.q, .c = 0}));
  x.f.mems[0].info.bytes = 8;
  x.f.mems[0].info.vector = 2;
  EXPECT_FALSE(x.good({.code = OpCode::st, .a = x.q, .c = 0})) << "the second element is missing";
  x.f.mems[0].regs[1] = x.r;
  EXPECT_FALSE(x.good({.code = OpCode::st, .a = x.q, .c = 0}));
  x.f.mems[0].regs[1] = x.q;
  EXPECT_TRUE(x.good({.code = OpCode::st, .a = x.q, .c = 0}));
}

TEST(Widths, WarpOperations) {
  Registers x;
  using C = OpCode;
  EXPECT_TRUE(x.good({.code = C::vote, .d = x.p, .b = x.r, .imm = 0}));
  EXPECT_TRUE(x.good({.code = C::vote, .d = x.r, .b = x.r, .imm = 3}));
  EXPECT_FALSE(x.good({.code = C::vote, .d = x.r, .b = x.r, .imm = 0}));
  EXPECT_TRUE(x.good({.code = C::meet, .a = x.r, .b = x.q, .imm = uint64_t(1) << 32}));
  EXPECT_FALSE(x.good({.code = C::meet, .a = x.r, .b = x.q}));
  EXPECT_TRUE(x.good({.code = C::bar, .a = x.r}));
  EXPECT_FALSE(x.good({.code = C::bar, .a = x.r, .imm = 2})) << "no result, no predicate";
  EXPECT_FALSE(x.good({.code = C::branch, .a = x.r}));
}

Error refusal(const std::string& body) {
  auto m = module_of(std::string(".visible .entry k(.param .u64 a)\n{\n") + kRegisters + body +
                     "\nret;\n}\n");
  auto p = lower(m, "k");
  return p.ok() ? Error{} : p.error();
}

TEST(Widths, UsersAreToldTheRegisterAndItsPlace) {
  Error e = refusal("add.u64 %r1, %d1, %d2;");
  EXPECT_EQ(e.code, ErrorCode::usage);
  EXPECT_EQ(e.message, "register '%r1' has 32 bits where 64 are written");
  EXPECT_EQ(e.span.line, 7u);
  EXPECT_EQ(e.span.column, 9u);
  EXPECT_EQ(refusal("setp.eq.u32 %r1, %r2, %r3;").message, "register '%r1' is not a predicate");
  EXPECT_EQ(refusal("cvta.to.global.u64 %r1, %d1;").code, ErrorCode::usage);
  // Loads and conversions may have wider registers: PTX ISA 9.0, section 9.4.1.
  EXPECT_EQ(refusal("ld.global.u8 %d1, [%d2]; cvt.u16.u32 %r1, %r2; cvt.s64.s8 %d1, %r1;").message,
            "");
}

// Whatever slips through the rules of one instruction is unsupported at its place.
TEST(Widths, WhatDoesNotFitIsNotExecuted) {
  auto p = lower_body("st.global.v2.b64 [%d1], {%r1, %r2}; nanosleep.u32 %h1; ret;");
  ASSERT_TRUE(p);
  EXPECT_EQ(find(*p, OpCode::st).size(), 0u);
  EXPECT_EQ(find(*p, OpCode::unsupported).size(), 1u);
}

std::string type_error(const std::string& body) {
  auto m = module_of(".visible .entry k(.param .u64 a)\n{\n.reg .b64 %d<4>; .reg .u64 %u<4>;"
                     ".reg .b32 %r<4>; .reg .s32 %s<4>; .reg .f32 %f<4>; .reg .b16 %h<4>;\n" +
                     body + "\nret;\n}\n");
  auto p = lower(m, "k");
  if (p.ok()) return "";
  EXPECT_EQ(p.error().code, ErrorCode::usage);
  return p.error().message;
}

// As ptxas has it.
TEST(Widths, OperandsHaveTheTypeOfTheirInstruction) {
  for (const char* body :
       {"add.f32 %f1, %r1, %f2;", "add.s32 %r1, %s2, %r3;", "add.u32 %s1, %s2, 1;",
        "and.b32 %r1, %f1, %r2;", "mov.b32 %f1, %r1;", "shl.b64 %d1, %d2, %r1;",
        "min.u64 %u1, %d1, %u2;", "atom.global.add.u32 %r1, [%d1], %r2;",
        "atom.global.add.L2::cache_hint.u32 %r1, [%d1], %r2, %d2;", "mul.wide.u32 %d1, %r1, %r2;",
        "{ .reg .f16x2 %x<3>; add.u32 %x1, %x2, 1; }"})
    EXPECT_EQ(type_error(body), "") << body;
  for (const char* body :
       {"add.f32 %f1, %d1, %d2;", "add.f32 %s1, %f1, %f2;", "add.s32 %r1, %f1, %r3;",
        "mov.u32 %r1, %d1;", "mov.f32 %f1, %s1;", "shl.b64 %d1, %d2, %d3;",
        "add.u32 %r1, %h1, %r2;", "atom.global.add.u32 %r1, [%d1], %d2;",
        "red.global.add.u32 [%d1], %f2;"})
    EXPECT_NE(type_error(body), "") << body;
}

} // namespace
} // namespace assay::ir
