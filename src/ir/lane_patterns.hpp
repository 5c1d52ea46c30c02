// How values vary over the lanes of a warp. Internal to ir. Two different strengths:
//   - branches are *proved* uniform when their predicate is a function of the launch alone (kernel
//     parameters, block index, extents, constant memory), each register written once before it is
//     read: then every lane of the warp has the same value at any time, however groups run ahead;
//   - addresses get a *hint* that the executor tests: uniform, or base + lane·size in a 1-D block.
#pragma once

#include "ir/virtual_code.hpp"

namespace assay::ir {

// Sets kProvedUniform on branches.
void prove_uniform_branches(VirtualFunction& f);

// Sets MemInfo::pattern.
void find_address_patterns(VirtualFunction& f);

} // namespace assay::ir
