// One warp-wide matrix multiply-accumulate; defined in pure_mma.cpp, once per vector level.
#pragma once

#include "vgpu/exec.hpp"

namespace assay::vgpu::ASSAY_LEVEL {

// D = A·B + C of all 32 lanes with the tensor core arithmetic of that compute capability (80, 90,
// …).
void mma_execute(const ir::MmaInfo& info, char* regs, uint32_t compute_capability);

} // namespace assay::vgpu::ASSAY_LEVEL
