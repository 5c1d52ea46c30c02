// Appends translated functions to a program: blocks in layout order, joins in front of the blocks
// that need one, registers replaced by slots. Internal to ir.
#pragma once

#include "ir/slots.hpp"
#include "ir/virtual_code.hpp"

namespace assay::ir {

void link_function(const VirtualFunction& f, const SlotAssignment& slots, Program& program);

} // namespace assay::ir
