// Floating-point atomics in one order; see float_sums.hpp.
#include "vgpu/float_sums.hpp"

#include "vgpu/atomic_value.hpp"

#include <algorithm>
#include <cstring>

namespace assay::vgpu {

void FloatSums::applied(uint8_t* at, uint32_t bytes, const ir::MemInfo& info, bool global,
                        uint64_t before, uint64_t operand, uint64_t result) {
  Cell& cell = cells_[at];
  bool same = cell.info && cell.bytes == bytes && cell.last == before &&
              cell.info->type == info.type && cell.info->atomic == info.atomic;
  if (!same) {
    cell = Cell{};
    cell.info = &info;
    cell.bytes = bytes;
    cell.global = global;
    cell.base = before;
  }
  cell.last = result;
  cell.operands.push_back(operand);
}

void FloatSums::canonical(uint8_t* at, Cell& cell) {
  uint64_t now = 0;
  std::memcpy(&now, at, cell.bytes);
  if (now != cell.last) return;
  std::sort(cell.operands.begin(), cell.operands.end());
  uint64_t value = cell.base;
  for (uint64_t operand : cell.operands)
    value = atomic_value(*cell.info, value, operand, cell.global);
  std::memcpy(at, &value, cell.bytes);
}

void FloatSums::settle(const uint8_t* from, const uint8_t* to) {
  for (auto it = cells_.begin(); it != cells_.end();) {
    if (from && (it->first < from || it->first >= to)) {
      ++it;
      continue;
    }
    canonical(it->first, it->second);
    it = cells_.erase(it);
  }
}

} // namespace assay::vgpu
