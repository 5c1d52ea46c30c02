// How values vary over the lanes of a warp. Internal to ir. In different strengths:
//   - branches are *proved* uniform when their predicate is a function of the launch alone (kernel
//     parameters, block index, extents, constant memory), each register written once before it is
//     read: then every lane of the warp has the same value at any time, however groups run ahead;
//   - addresses of a kernel are *fixed* when a lane computes them once, outside loops: what has
//   been
//     seen of the pattern of all lanes' addresses then holds for the rest of the block's life;
//   - addresses get a *hint* that the executor tests: uniform, or base + lane·size in a 1-D block.
#pragma once

#include "ir/virtual_code.hpp"

namespace assay::ir {

// Sets kProvedUniform on branches.
void prove_uniform_branches(VirtualFunction& f);

// Sets MemInfo::fixed of loads and stores, after keep_launch_values.
void find_fixed_addresses(VirtualFunction& f);

// Sets MemInfo::pattern.
void find_address_patterns(VirtualFunction& f);

} // namespace assay::ir
