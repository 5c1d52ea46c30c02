// Widths of operands, checked for each instruction as it is translated and for a whole function
// after its last change. Internal to ir.
#pragma once

#include "ir/virtual_code.hpp"

#include <string>

namespace assay::ir {

// What is wrong with an operand of `op`: missing, or of another width than the operation handles.
// Empty: nothing.
std::string width_problem(const VirtualFunction& f, const VirtualOp& op);

// The first such problem of the function. A violation is our own mistake.
Result<void> verify_widths(const VirtualFunction& f);

} // namespace assay::ir
