// Loops that ask an mbarrier object again and again until a phase has completed. Internal to ir.
#pragma once

#include "ir/virtual_code.hpp"

namespace assay::ir {

// Marks (kRetried) each mbarrier_wait of which a lane that is told "no" asks the same object for
// the same phase again, by this operation or another one, and does nothing else before that anybody
// could notice; and each reading of a clock that only such loops use. How often a lane is told "no"
// is then nobody's business: what follows the loop cannot tell. Runs behind everything that moves
// operations.
void find_retries(VirtualFunction& f);

} // namespace assay::ir
