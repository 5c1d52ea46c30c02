// Where a kernel may use a value that the manual leaves open. Internal to ir.
#pragma once

#include "ir/virtual_code.hpp"

namespace assay::ir {

// Puts a check where a register is read that some path has not written, and behind each division
// whose divisor may be zero. Whether that happens is known only when a lane gets there: a guarded
// reading behind a guarded writing is in order. So each register that liveness finds readable
// unwritten gets a predicate "has been written", false at entry; plain copies hand it on. Functions
// without such registers and divisions, nearly all, stay as they are. Runs after the analyses that
// ask for single definitions, since a check writes the register that it looks at.
void watch_open_values(VirtualFunction& f);

} // namespace assay::ir
