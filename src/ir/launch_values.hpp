// Registers of a kernel that the launch, the CTA or the thread's place fixes: parameters, tid,
// ctaid, extents. Internal to ir.
#pragma once

#include "ir/virtual_code.hpp"

namespace assay::ir {

// Turns the only definition of such a register into a constant of the frame: the executor fills it
// when a warp starts (or keeps it, when the warp's storage served another CTA of the launch), and
// the operation is gone. Its PTX instruction still counts among those executed.
void keep_launch_values(VirtualFunction& f, uint32_t parameter_bytes);

} // namespace assay::ir
