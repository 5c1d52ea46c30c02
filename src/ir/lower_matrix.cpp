// PTX ISA 9.0, section 9.7.15 (warp-level matrix instructions): ldmatrix, stmatrix, movmatrix. wmma
// stands in lower_wmma.cpp, mma with the pure operations.
#include "ir/function_lowering.hpp"

namespace assay::ir {

using ptx::Operand;
using ptx::Type;

// ldmatrix.sync.aligned.m8n8.num{.trans}{.space}.b16 r, [p] and stmatrix … [p], r
Result<void> FunctionLowering::lower_ldmatrix(const ptx::Instruction& in) {
  Modifiers mods(in);
  bool load = in.opcode == "ldmatrix";
  if (!mods.has(".m8n8") || !mods.has(".b16") || in.operands.size() != 2) return not_executed(in);
  VirtualMem m;
  VirtualOp op;
  m.info.matrices = mods.has(".x4") ? 4 : mods.has(".x2") ? 2 : 1;
  m.info.trans = mods.has(".trans");
  m.info.type = Type::b16;
  m.info.bytes = 16; // one row of eight elements
  if (auto r = place_access(in, in.operands[load ? 1 : 0], m, op); !r) return r;
  const Operand& list = in.operands[load ? 0 : 1];
  std::vector<Operand> regs =
      list.kind == Operand::Kind::vector ? list.elements : std::vector<Operand>{list};
  if (regs.size() != m.info.matrices) return not_executed(in);
  for (size_t i = 0; i < regs.size(); ++i) {
    auto v = load ? dest(regs[i], Type::b32) : source(regs[i], Type::b32);
    if (!v) return v.error();
    m.regs[i] = v->id;
  }
  emit_meet_all(meet_key(in));
  access(load ? OpCode::ldmatrix : OpCode::stmatrix, op, m);
  return {};
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
Result<void> FunctionLowering::lower_movmatrix(const ptx::Instruction& in) {
  if (in.operands.size() != 2) return not_executed(in);
  auto d = dest(in.operands[0], Type::b32);
  if (!d) return d.error();
  auto a = source(in.operands[1], Type::b32);
  if (!a) return a.error();
  meet({}, *a, in);
  emit(OpCode::movmatrix, *d);
  return {};
}

} // namespace assay::ir
