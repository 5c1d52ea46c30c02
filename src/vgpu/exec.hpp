// What a handler sees: the operation record, the warp, and the register frame.
//
// A handler is one function per operation and mode. `full`: all 32 lanes execute it; `masked`: only
// lanes of warp.exec change. Handlers are compiled once per vector level (namespace
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

// What a handler reads of an ir::Op, its slots as places in the frame.
struct Operands {
  SlotPlace d = SlotPlace::none, a = SlotPlace::none, b = SlotPlace::none;
  SlotPlace c = SlotPlace::none; // ld and st: index of their MemInfo
                                 // ld: b, st: d: the bit of MemInfo::fixed in Warp::seen, or 0
  uint64_t imm = 0;
  SlotPlace guard = SlotPlace::none;
  uint16_t flags = 0, length = 0;
  uint32_t mem() const { return uint32_t(c); }
  uint32_t bit_of_load() const { return uint32_t(b); }
  uint32_t bit_of_store() const { return uint32_t(d); }
};

struct Exec {
  Handler run = nullptr;
  Operands op;
};
static_assert(sizeof(Exec) == 40);

inline Exec make_exec(Handler run, const ir::Op& op) {
  auto place = [](ir::Slot slot) {
    return slot == ir::kNoSlot ? SlotPlace::none : SlotPlace(slot * kSlotBytes);
  };
  bool memory = op.code == ir::OpCode::ld || op.code == ir::OpCode::st;
  return {run,
          {place(op.d), place(op.a), place(op.b), memory ? SlotPlace(op.c) : place(op.c), op.imm,
           place(op.guard), op.flags, op.length}};
}

// The part of a warp's state that pure handlers touch; vgpu/warp.hpp derives the whole from it.
struct WarpMasks {
  alignas(64) Lanes<int32_t> exec; // lanes that execute the current operation: 0 or −1
  uint32_t exec_bits = 0;          // the same as bits
  bool stop = false;               // loop builds: leave the dispatch loop
  const ir::Program* program = nullptr;
};

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(ASSAY_NO_TAIL_CALLS)
#define ASSAY_TAIL_CALLS 1
#if defined(__clang__) // also where it does not optimise enough to come to it by itself
#define ASSAY_TAIL [[clang::musttail]] return
#else
#define ASSAY_TAIL return
#endif
#define ASSAY_NEXT(e, w, regs) ASSAY_TAIL(e)[1].run((e) + 1, (w), (regs))
// In a lambda, which cannot promise it.
#define ASSAY_NEXT_OF_LAMBDA(e, w, regs) return (e)[1].run((e) + 1, (w), (regs))
#else
#define ASSAY_TAIL_CALLS 0
#define ASSAY_TAIL return
#define ASSAY_NEXT(e, w, regs) return (e) + 1
#define ASSAY_NEXT_OF_LAMBDA(e, w, regs) return (e) + 1
#endif

// The body of a pure operation: reads and writes registers only, cannot stop.
// template <bool Full> void body(const Operands& op, const WarpMasks& w, char* regs);

// Tables of the pure operations at one vector level, indexed by OpCode − first pure code. `guarded`
// intersects the warp's lanes with the operation's guard first.
struct PureHandlers {
  Handler full, masked, guarded;
};

} // namespace assay::vgpu
