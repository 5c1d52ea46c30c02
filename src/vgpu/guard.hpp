// The guard of one operation, where nothing is known of it before.
#pragma once

#include "ir/program.hpp"
#include "vgpu/lanes.hpp"

namespace assay::vgpu {

// Which of these lanes the operation executes in.
inline uint32_t lanes_that_hold(const ir::Op& op, char* regs, uint32_t active) {
  if (!(op.flags & ir::kGuarded)) return active;
  const auto& p = lanes<int32_t>(regs, op.guard);
  for (uint32_t i = 0; i < 32; ++i)
    if ((p.v[i] != 0) == ((op.flags & ir::kGuardNegated) != 0)) active &= ~(1u << i);
  return active;
}

} // namespace assay::vgpu
