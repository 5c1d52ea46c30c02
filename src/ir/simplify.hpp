// Fewer operations for the same values. Internal to ir.
#pragma once

#include "ir/virtual_code.hpp"

namespace assay::ir {

// Reads copied registers where they come from (nvcc moves every literal and every value that
// changes its register class), then drops operations without effect whose results nobody reads. A
// copy is looked through when it and its source are written once, each before every reading of the
// copy on every path: then the source still holds the value. The instruction counts of blocks stay.
void simplify(VirtualFunction& f);

} // namespace assay::ir
