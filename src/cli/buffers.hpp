// What a run left in the buffers: written to files (--out) and printed (--show).
#pragma once

#include "cases/case.hpp"

namespace assay::cli {

// Nothing where the run was given up before there was memory to look at.
Result<void> write_outs(const cases::Case& subject, const vgpu::Outcome& outcome);
std::string shown_buffers(const cases::Case& subject, const vgpu::Outcome& outcome);

} // namespace assay::cli
