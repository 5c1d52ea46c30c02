// What a handler sees: the operation record, the warp, and the register frame.
//
// A handler is one function per operation and mode. `full`: the current group is the only live
// group of its warp, so lanes outside it are dead and may be clobbered; `masked`: only lanes of
// warp.exec change. Handlers are compiled once per vector level (namespace
// assay::vgpu::ASSAY_LEVEL) and chained by tail calls; builds without sibling-call optimisation
// return to a loop instead.
#pragma once

#include "ir/program.hpp"
#include "vgpu/lanes.hpp"

namespace assay::vgpu {

struct Warp;
struct Exec;

// Executes the operation at `e` and what follows; returns the operation before which the warp
// stopped (loop builds: the next operation to run, or the stop flagged in the warp).
using Handler = const Exec* (*)(const Exec* e, Warp* w, char* regs);

struct Exec { // 32 bytes
  Handler run = nullptr;
  ir::Op op;
};
static_assert(sizeof(Exec) == 32);

// The part of a warp's state that pure handlers touch; vgpu/warp.hpp derives the whole from it.
struct WarpMasks {
  alignas(64) Lanes<int32_t> exec; // lanes that execute the current operation: 0 or −1
  uint32_t exec_bits = 0;          // the same as bits
  bool stop = false;               // loop builds: leave the dispatch loop
  const ir::Program* program = nullptr;
};

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(ASSAY_NO_TAIL_CALLS)
#define ASSAY_TAIL_CALLS 1
#define ASSAY_NEXT(e, w, regs) return (e)[1].run((e) + 1, (w), (regs))
#else
#define ASSAY_TAIL_CALLS 0
#define ASSAY_NEXT(e, w, regs) return (e) + 1
#endif

// The body of a pure operation: reads and writes registers only, cannot stop.
// template <bool Full> void body(const ir::Op& op, const WarpMasks& w, char* regs);

// Tables of the pure operations at one vector level, indexed by OpCode − first pure code. `guarded`
// intersects the warp's lanes with the operation's guard first.
struct PureHandlers {
  Handler full, masked, guarded;
};

} // namespace assay::vgpu
