// Control flow of one function: unreachable blocks, reconvergence, loops. Internal to ir.
#pragma once

#include "ir/virtual_code.hpp"

namespace assay::ir {

// Drops blocks that no path reaches, marks back edges, and gives each branch the block where its
// paths meet again: its immediate post-dominator. Paths that end in a trap or never end do not
// count, since whoever takes them does not come back. A block that is only ret or exit is no
// reconvergence point of a kernel; where that leaves none, paths that leave the kernel early do
// not count either.
void analyse_flow(VirtualFunction& f);

// Immediate post-dominators within `region`, from the blocks in `exits`; kNoIndex where only the
// end itself post-dominates. Every block of the region reaches some exit.
std::vector<uint32_t> post_dominators(const VirtualFunction& f, const std::vector<bool>& region,
                                      const std::vector<uint32_t>& exits);

// Immediate dominators from block 0, which has itself.
std::vector<uint32_t> dominators(const VirtualFunction& f);

} // namespace assay::ir
