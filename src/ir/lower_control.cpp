// PTX ISA 9.0, sections 9.7.13 (control flow: bra, brx.idx, ret, exit) and 9.7.20 (trap, brkpt).
#include "ir/function_lowering.hpp"

#include <fmt/format.h>

namespace assay::ir {

Result<void> FunctionLowering::lower_bra(const ptx::Instruction& in) {
  auto target = label(in.operands.at(0));
  if (!target) return target.error();
  VirtualOp op;
  op.code = guard_.valid() ? OpCode::branch : OpCode::jump;
  op.imm = *target;
  op.instruction = &in;
  if (guard_.valid()) {
    op.a = guard_.id;
    op.flags = guard_negated_ ? kNegate : 0;
    if (Modifiers(in).has(".uni")) op.flags |= kUniform;
  }
  end_block_with(op);
  if (guard_.valid()) start_block(); // the path that is not taken
  return {};
}

// brx.idx index, list: the list is a .branchtargets directive of an enclosing scope.
Result<void> FunctionLowering::lower_brx(const ptx::Instruction& in) {
  if (in.operands.size() < 2) return error(in, "brx.idx takes an index and a list of targets");
  auto index = source(in.operands[0], ptx::Type::u32);
  if (!index) return index.error();
  const ptx::Statement* list = nullptr;
  for (uint32_t scope = scopes_.back().id; !list; scope = scope_parent_[scope]) {
    if (auto it = lists_.find({scope, in.operands[1].name}); it != lists_.end())
      list = it->second;
    else if (scope == 0)
      return error(in, fmt::format("'{}' is no list of branch targets", in.operands[1].name));
  }
  std::vector<uint32_t> targets;
  for (const std::string& name : list->names) {
    ptx::Operand operand;
    operand.kind = ptx::Operand::Kind::label;
    operand.name = name;
    operand.position = list->position;
    auto target = label(operand);
    if (!target) return target.error();
    targets.push_back(*target);
  }
  f_.tables.push_back(std::move(targets));
  VirtualOp op;
  op.code = OpCode::brx;
  op.a = index->id;
  op.imm = f_.tables.size() - 1;
  op.instruction = &in;
  op.flags = Modifiers(in).has(".uni") ? kUniform : 0;
  end_block_with(op);
  return {};
}

// A device function returns in one place, so that lanes which left it by different ways meet before
// they go on in the caller.
Result<void> FunctionLowering::lower_ret(const ptx::Instruction& in) {
  if (!f_.is_kernel)
    jump(epilogue_);
  else
    end_block_with({.code = OpCode::ret, .instruction = &in});
  return {};
}

Result<void> FunctionLowering::lower_exit(const ptx::Instruction& in) {
  end_block_with({.code = OpCode::exit, .instruction = &in});
  return {};
}

Result<void> FunctionLowering::lower_trap(const ptx::Instruction& in) {
  end_block_with({.code = OpCode::trap, .imm = in.opcode == "brkpt" ? 1u : 0u, .instruction = &in});
  return {};
}

} // namespace assay::ir
