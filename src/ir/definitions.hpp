// Where the registers of a function are written, and dominance between operations. Internal to ir.
#pragma once

#include "ir/flow.hpp"

namespace assay::ir {

class Definitions {
public:
  explicit Definitions(const VirtualFunction& f)
      : f_(f), dominator_(dominators(f)), count_(f.registers.size()),
        definition_(f.registers.size(), kNoIndex), block_of_(f.ops.size(), kNoIndex) {
    for (uint32_t b = 0; b < f.blocks.size(); ++b)
      for (uint32_t i = f.blocks[b].first; i < f.blocks[b].end && !f.blocks[b].dropped; ++i) {
        block_of_[i] = b;
        for_each_operand(
            f, f.ops[i], [](uint32_t) {},
            [&](uint32_t id) {
              ++count_[id];
              definition_[id] = i;
            });
      }
  }

  // The only operation that writes the register, or kNoIndex.
  uint32_t single(uint32_t id) const { return count_[id] == 1 ? definition_[id] : kNoIndex; }

  uint32_t block_of(uint32_t op) const { return block_of_[op]; }

  // Does every path to op `use` pass op `def` before?
  bool dominates(uint32_t def, uint32_t use) const {
    uint32_t a = block_of_[def], b = block_of_[use];
    if (a == b) return def < use;
    while (b != 0 && b != a) b = dominator_[b];
    return b == a;
  }

  // Constants, and registers whose single definition comes before op `use` on every path.
  bool defined_once_before(uint32_t id, uint32_t use) const {
    if (f_.registers[id].constant) return true;
    return count_[id] == 1 && dominates(definition_[id], use);
  }

private:
  const VirtualFunction& f_;
  std::vector<uint32_t> dominator_, count_, definition_, block_of_;
};

} // namespace assay::ir
