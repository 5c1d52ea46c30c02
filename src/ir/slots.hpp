// Liveness of virtual registers and their packing into slots. Internal to ir.
#pragma once

#include "ir/virtual_code.hpp"

namespace assay::ir {

struct SlotAssignment {
  std::vector<Slot> slot; // per virtual register; kNoSlot: never used
  uint32_t slots = 0;     // frame size
  std::vector<Constant> constants;
  std::vector<Slot> undefined; // see Function
  uint32_t live_registers = 0; // 32-bit registers at the worst point, without predicates
};

// Packs registers whose live ranges do not meet into the same slots. Liveness is per thread: lanes
// of a warp that run apart write their own columns only. A column lies elsewhere for each width, so
// a slot serves registers of one width. A guarded definition does not end the life of the old
// value. A destination may share its slot with a source that dies there only when the operation is
// pure; constants share with nothing.
Result<SlotAssignment> assign_slots(const VirtualFunction& f);

// Registers that some path reads before it writes them.
std::vector<uint32_t> maybe_unwritten(const VirtualFunction& f);

// Every reading of a register finds its value in its slot, on every path. A violation is our own
// mistake.
Result<void> verify_slots(const VirtualFunction& f, const SlotAssignment& assignment);

} // namespace assay::ir
