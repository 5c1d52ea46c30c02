// What an atomic operation makes of one element: the new value from the old one and the operand
// (machine_atomic.cpp).
#pragma once

#include "ir/program.hpp"

#include <cstdint>

namespace assay::vgpu {

// `global`: f32 additions there flush subnormals. Not for compare-and-swap.
uint64_t atomic_value(const ir::MemInfo& info, uint64_t old, uint64_t operand, bool global);

// Updates one element of up to 8 bytes; operand: as in ir::OpCode::atom, the second one of
// compare-and-swap alone. `sums`, if any, is told of floating-point ones.
class FloatSums;
void update_element(const ir::MemInfo& info, uint8_t* cell, const uint64_t (&operand)[2],
                    bool global, FloatSums* sums);

} // namespace assay::vgpu
