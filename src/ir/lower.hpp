// Lowering: ptx::Module → ir::Program for one kernel and everything that it calls.
#pragma once

#include "ir/program.hpp"

namespace assay::ir {

// `entry` is the exact PTX name. Error code unsupported (with the place) when the kernel cannot be
// lowered at all; an instruction that merely cannot be executed becomes Op `unsupported`.
Result<std::shared_ptr<const Program>> lower(const std::shared_ptr<const ptx::Module>& module,
                                             const std::string& entry);

} // namespace assay::ir
