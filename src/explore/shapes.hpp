// What the text of a program says of one of its strong loads: a look at the operations around it,
// for words of advice alone. No verdict rests on it.
#pragma once

#include "ir/program.hpp"

namespace assay::explore {

// Is the operation in a loop that does nothing but look: no barrier, no store, and no plain load
// unless `plain` says so?
bool polls(const ir::Program& program, uint32_t pc, bool plain = false);

// The load of the same place from which the value that `store` stores is made (x += y, say), or
// kNoIndex.
uint32_t updates(const ir::Program& program, uint32_t store);

// Is it an atomic operation that changes nothing: atomicAdd(p, 0), atomicOr(p, 0), atomicCAS(p, x,
// x)?
bool only_reads(const ir::Program& program, uint32_t pc);

// Of two atomic operations: does the first one take what the second one, which tells its own thread
// nothing, has put together? Who appends, locks or polls by it takes it in any order.
bool takes(const ir::Program& program, uint32_t first, uint32_t second);

// Does a branch depend on what it loads, before the value is stored anywhere?
bool decides(const ir::Program& program, uint32_t pc);

// Is there a loop that holds both?
bool loop_around(const ir::Program& program, uint32_t low, uint32_t high);

} // namespace assay::explore
