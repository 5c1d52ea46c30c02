// Cutting the operations of a function into blocks, and labels. Source: PTX ISA 9.0, sections 4.1
// (labels) and 9.7.13 (control flow).
#include "ir/function_lowering.hpp"

#include <fmt/format.h>

namespace assay::ir {

uint32_t FunctionLowering::new_label() {
  f_.label_block.push_back(kNoIndex);
  return uint32_t(f_.label_block.size() - 1);
}

void FunctionLowering::start_block() {
  CHECK(!open_);
  Block b;
  b.first = b.end = uint32_t(f_.ops.size());
  f_.blocks.push_back(b);
  open_ = true;
}

void FunctionLowering::end_block_with(VirtualOp op) {
  if (!open_) start_block();
  CHECK(is_terminator(op.code));
  f_.ops.push_back(op);
  f_.blocks.back().end = uint32_t(f_.ops.size());
  open_ = false;
}

void FunctionLowering::jump(uint32_t label) {
  VirtualOp op;
  op.code = OpCode::jump;
  op.imm = label;
  op.instruction = current_;
  end_block_with(op);
}

void FunctionLowering::place_label(uint32_t label) {
  bool empty = open_ && f_.blocks.back().first == f_.ops.size() && !f_.blocks.back().instructions;
  if (open_ && !empty) {
    const ptx::Instruction* instruction = current_;
    current_ = nullptr; // a jump to the next operation is nobody's instruction
    jump(label);
    current_ = instruction;
  }
  if (!open_) start_block();
  f_.label_block[label] = uint32_t(f_.blocks.size() - 1);
}

Result<uint32_t> FunctionLowering::label(const ptx::Operand& operand) {
  for (uint32_t scope = scopes_.back().id;; scope = scope_parent_[scope]) {
    if (auto it = labels_.find({scope, operand.name}); it != labels_.end()) return it->second;
    if (scope == 0)
      return at(operand, fmt::format("label '{}' stands nowhere in this function", operand.name));
  }
}

// Ends the last block, fills in the targets' blocks and the successors.
void FunctionLowering::finish_blocks() {
  auto block_of = [&](uint64_t label) { return f_.label_block[label]; };
  for (uint32_t i = 0; i < f_.blocks.size(); ++i) {
    Block& b = f_.blocks[i];
    VirtualOp& last = f_.ops[b.end - 1];
    switch (last.code) {
    case OpCode::jump:
      last.imm = block_of(last.imm);
      b.successors = {uint32_t(last.imm)};
      break;
    case OpCode::branch:
      last.imm = block_of(last.imm);
      b.successors = {uint32_t(last.imm), i + 1};
      break;
    case OpCode::brx:
      for (uint32_t& target : f_.tables[last.imm]) {
        target = block_of(target);
        b.successors.push_back(target);
      }
      break;
    case OpCode::call:
    case OpCode::call_indirect: b.successors = {i + 1}; break;
    default: break;
    }
  }
}

} // namespace assay::ir
