// Copy propagation and removal of dead operations; see simplify.hpp.
#include "ir/simplify.hpp"
#include "ir/definitions.hpp"

namespace assay::ir {
namespace {

bool is_zero(const VirtualFunction& f, uint32_t id) {
  return id != kNoIndex && f.registers[id].constant && f.registers[id].value == 0;
}

bool is_copy(const VirtualFunction& f, const VirtualOp& op) {
  if (op.flags & kGuarded || op.d == kNoIndex || op.a == kNoIndex) return false;
  switch (op.code) {
  case OpCode::mov_b32:
  case OpCode::mov_b64:
  case OpCode::mov_b128: return f.registers[op.d].slots() == f.registers[op.a].slots();
  case OpCode::add_b32:
  case OpCode::add_b64: return is_zero(f, op.b);
  default: return false;
  }
}

// For each register the one to read instead, itself where there is none.
std::vector<uint32_t> copy_sources(const VirtualFunction& f) {
  Definitions definitions(f);
  std::vector<uint32_t> from(f.registers.size());
  for (uint32_t id = 0; id < from.size(); ++id) from[id] = id;
  for (const Block& b : f.blocks)
    for (uint32_t i = b.first; i < b.end && !b.dropped; ++i) {
      const VirtualOp& op = f.ops[i];
      if (is_copy(f, op) && op.a != op.d && definitions.single(op.d) == i &&
          definitions.defined_once_before(op.a, i))
        from[op.d] = op.a;
    }
  // Every reading must come after the copy.
  for (const Block& b : f.blocks)
    for (uint32_t i = b.first; i < b.end && !b.dropped; ++i)
      for_each_operand(
          f, f.ops[i],
          [&](uint32_t id) {
            if (from[id] != id && !definitions.dominates(definitions.single(id), i)) from[id] = id;
          },
          [](uint32_t) {});
  return from;
}

void propagate(VirtualFunction& f) {
  std::vector<uint32_t> from = copy_sources(f);
  for (Block& b : f.blocks)
    for (uint32_t i = b.first; i < b.end && !b.dropped; ++i)
      visit_operands(f, f.ops[i], [&](uint32_t& id, bool definition) {
        while (!definition && from[id] != id) id = from[id];
      });
}

bool has_effect(const VirtualOp& op) {
  if (is_pure(op.code)) return false;
  return op.code != OpCode::special && op.code != OpCode::frame_address &&
         op.code != OpCode::activemask;
}

void drop_dead(VirtualFunction& f) {
  std::vector<uint32_t> reads(f.registers.size());
  auto count = [&](const VirtualOp& op, int by) {
    for_each_operand(f, op, [&](uint32_t id) { reads[id] += uint32_t(by); }, [](uint32_t) {});
  };
  for (const Block& b : f.blocks)
    for (uint32_t i = b.first; i < b.end && !b.dropped; ++i) count(f.ops[i], 1);
  std::vector<bool> dead(f.ops.size());
  for (bool changed = true; changed;) { // chains mostly fall in one backward pass
    changed = false;
    for (uint32_t i = uint32_t(f.ops.size()); i-- > 0;) {
      const VirtualOp& op = f.ops[i];
      if (dead[i] || has_effect(op) || op.d == kNoIndex || reads[op.d]) continue;
      dead[i] = changed = true;
      count(op, -1);
    }
  }
  for (VirtualOp& op : f.ops) // an atomic whose old value nobody reads orders nothing by it
    if (op.code == OpCode::atom && op.d != kNoIndex && !reads[op.d]) op.d = kNoIndex;
  for (VirtualOp& op : f.ops) // results of shfl, match and elect that nobody reads
    if (op.code == OpCode::shfl && f.extra[op.imm >> 8] != kNoIndex && !reads[f.extra[op.imm >> 8]])
      f.extra[op.imm >> 8] = kNoIndex;
  std::vector<VirtualOp> kept;
  kept.reserve(f.ops.size());
  for (Block& b : f.blocks) {
    auto first = uint32_t(kept.size());
    for (uint32_t i = b.first; i < b.end; ++i)
      if (!dead[i]) kept.push_back(f.ops[i]);
    b.first = first;
    b.end = uint32_t(kept.size());
  }
  f.ops = std::move(kept);
}

} // namespace

void simplify(VirtualFunction& f) {
  propagate(f);
  drop_dead(f);
}

} // namespace assay::ir
