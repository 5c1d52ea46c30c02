// What an atomic operation makes of one element: the new value from the old one and the operand
// (machine_atomic.cpp).
#pragma once

#include "ir/program.hpp"

#include <cstdint>

namespace assay::vgpu {

// `global`: f32 additions there flush subnormals. Not for compare-and-swap.
uint64_t atomic_value(const ir::MemInfo& info, uint64_t old, uint64_t operand, bool global);

} // namespace assay::vgpu
