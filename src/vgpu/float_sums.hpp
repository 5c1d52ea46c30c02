// One order for floating-point atomics, to tell whether an outcome depends on anything else than
// their rounding (`fp-atomic-order`). The atomics run as ever; each cell's operands are written
// down, and at the end of the launch, or at a barrier of the whole CTA for its shared memory, the
// cell gets what its operands give when they are applied in the order of their bits. Whatever
// order they came in, that is the same. A cell that was written otherwise in between starts anew.
#pragma once

#include "ir/program.hpp"

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace assay::vgpu {

class FloatSums {
public:
  static constexpr uint32_t kMostBytes = 8;
  using Value = std::array<uint8_t, kMostBytes>;

  // `cell` held `before`, and now holds the result.
  void applied(uint8_t* cell, uint32_t bytes, const ir::MemInfo& info, bool global, uint64_t before,
               uint64_t operand, uint64_t result);
  // Gives every cell in [from, to) its canonical value; null: all of them.
  void settle(const uint8_t* from, const uint8_t* to);

private:
  struct Cell {
    const ir::MemInfo* info = nullptr;
    uint32_t bytes = 0;
    bool global = false;
    uint64_t base = 0, last = 0;
    std::vector<uint64_t> operands;
  };
  static void canonical(uint8_t* at, Cell& cell);
  std::unordered_map<uint8_t*, Cell> cells_;
};

} // namespace assay::vgpu
