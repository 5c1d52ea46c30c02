// Control-flow handlers. Included by core.cpp once per vector level.
// A terminator adds its straight run's length × lanes to the instruction counter; a taken back edge
// is where a quantum may end.
#pragma once

#include "vgpu/handlers/patterns.hpp"
#include "vgpu/machine.hpp"

namespace assay::vgpu::ASSAY_LEVEL {

inline constexpr int kQuantumOfPoint = 32;

ASSAY_INLINE const Exec* stop(Warp* w, const Exec* e, Stop reason) {
  w->reason = reason;
  w->stop = true;
  return e;
}

// Before a scheduling point: stops when the agent may not pass another one. Loops with a scheduling
// point in them are likely to wait for somebody, so each one uses up more of the quantum.
#define ASSAY_POINT(e, w)                                                                          \
  if (!(w)->points_left) return stop((w), (e), Stop::point);                                       \
  --(w)->points_left;                                                                              \
  (w)->quantum_left -= kQuantumOfPoint;                                                            \
  ++(w)->points

// Before a call of code that was compiled without vector extensions, which is slow while the upper
// halves of the vector registers are in use.
#if defined(__AVX2__)
#define ASSAY_LEAVE_VECTORS() _mm256_zeroupper()
#else
#define ASSAY_LEAVE_VECTORS() static_cast<void>(0)
#endif

#define ASSAY_GO(target)                                                                           \
  do {                                                                                             \
    const Exec* to_ = (target);                                                                    \
    ASSAY_JUMP(to_, w, regs);                                                                      \
  } while (0)
#if ASSAY_TAIL_CALLS
#define ASSAY_JUMP(to, w, regs) ASSAY_TAIL(to)->run((to), (w), (regs))
#else
#define ASSAY_JUMP(to, w, regs) return (to)
#endif

ASSAY_INLINE uint32_t pc_of(const Exec* e, const Warp* w) { return uint32_t(e - w->code); }

ASSAY_INLINE const ir::Op& op_of(const Exec* e, const Warp* w) {
  return w->program->ops[pc_of(e, w)];
}

ASSAY_INLINE bool end_of_quantum(Warp* w, const Operands& op) {
  return (op.flags & ir::kBackEdge) && --w->quantum_left <= 0;
}

template <bool Full> const Exec* jump(const Exec* e, Warp* w, char* regs) {
  w->instructions += uint64_t(e->op.length) * w->active_count;
  const Exec* to = w->code + e->op.imm;
  if (end_of_quantum(w, e->op)) return stop(w, to, Stop::quantum);
  ASSAY_GO(to);
}

// What no short way needs stands apart, so that those set up no frame; not cold, which would leave
// its loops scalar.
#define ASSAY_OTHER_WAY __attribute__((noinline))

ASSAY_OTHER_WAY inline const Exec* part_at_branch(const Exec* e, Warp* w, char*, uint32_t taken) {
  if (e->op.flags & ir::kUniform) {
    w->machine->fault(*w, pc_of(e, w), uint32_t(__builtin_ctz(taken)), EventKind::illegal_operation,
                      "bra.uni: lanes of one warp disagree on the branch");
    return stop(w, e, Stop::aborted);
  }
  w->machine->diverge(*w, taken, uint32_t(e->op.imm), pc_of(e, w) + 1, uint32_t(e->op.imm >> 32));
  return stop(w, e, Stop::diverged);
}

template <bool Full> const Exec* branch(const Exec* e, Warp* w, char* regs) {
  w->instructions += uint64_t(e->op.length) * w->active_count;
  uint32_t taken = predicate_bits(lanes<int32_t>(regs, e->op.a));
  if (e->op.flags & ir::kNegate) taken = ~taken;
  taken &= w->exec_bits;
  if (w->machine->hash_path) [[unlikely]]
    w->machine->path(uint64_t(pc_of(e, w)) << 32 | taken);
  if (taken == w->exec_bits) {
    const Exec* to = w->code + uint32_t(e->op.imm);
    if (end_of_quantum(w, e->op)) return stop(w, to, Stop::quantum);
    ASSAY_GO(to);
  }
  if (!taken) ASSAY_GO(e + 1);
  ASSAY_LEAVE_VECTORS();
  return part_at_branch(e, w, regs, taken);
}

template <bool Full> const Exec* brx(const Exec* e, Warp* w, char* regs) {
  w->instructions += uint64_t(e->op.length) * w->active_count;
  const ir::BranchTable& table = w->program->tables[e->op.imm];
  const auto& index = lanes<uint32_t>(regs, e->op.a);
  uint32_t first = uint32_t(__builtin_ctz(w->exec_bits)), same = 0;
  for (uint32_t i = 0; i < 32; ++i)
    if (w->exec_bits >> i & 1 && index.v[i] == index.v[first]) same |= 1u << i;
  if (index.v[first] >= table.targets.size()) {
    ASSAY_LEAVE_VECTORS();
    w->machine->fault(*w, pc_of(e, w), first, EventKind::illegal_operation,
                      "brx.idx: index beyond the table of targets");
    return stop(w, e, Stop::aborted);
  }
  uint32_t target = table.targets[index.v[first]];
  if (w->machine->hash_path) w->machine->path(uint64_t(target) << 32 | same);
  if (same == w->exec_bits) {
    if (end_of_quantum(w, e->op)) return stop(w, w->code + target, Stop::quantum);
    ASSAY_GO(w->code + target);
  }
  // The others stay at this brx and take their own turn.
  ASSAY_LEAVE_VECTORS();
  w->machine->diverge(*w, same, target, pc_of(e, w), table.reconverge);
  return stop(w, e, Stop::diverged);
}

template <bool Full> const Exec* join(const Exec* e, Warp* w, char* regs) {
  if (!Full && !w->group->joins.empty() && w->group->joins.back().pc == pc_of(e, w))
    return stop(w, e, Stop::join);
  ASSAY_NEXT(e, w, regs);
}

template <bool Full> const Exec* call(const Exec* e, Warp* w, char* regs) {
  w->instructions += uint64_t(e->op.length) * w->active_count;
  ASSAY_LEAVE_VECTORS();
  w->machine->call(*w, pc_of(e, w), uint32_t(e->op.imm));
  return stop(w, e, w->machine->abort ? Stop::aborted : Stop::moved);
}

template <bool Full> const Exec* call_indirect(const Exec* e, Warp* w, char* regs) {
  w->instructions += uint64_t(e->op.length) * w->active_count;
  ASSAY_LEAVE_VECTORS();
  w->machine->call_indirect(*w, pc_of(e, w), regs, op_of(e, w).a);
  return stop(w, e, w->machine->abort ? Stop::aborted : Stop::moved);
}

template <bool Full> const Exec* exit(const Exec* e, Warp* w, char* regs) {
  ASSAY_POINT(e, w);
  w->instructions += uint64_t(e->op.length) * w->active_count;
  return stop(w, e, Stop::exited);
}

template <bool Full> const Exec* ret(const Exec* e, Warp* w, char* regs) {
  if (w->group->frames.empty()) return exit<Full>(e, w, regs);
  w->instructions += uint64_t(e->op.length) * w->active_count;
  ASSAY_LEAVE_VECTORS();
  w->machine->ret(*w);
  return stop(w, e, Stop::moved);
}

template <bool Full> const Exec* trap(const Exec* e, Warp* w, char* regs) {
  ASSAY_LEAVE_VECTORS();
  w->machine->fault(*w, pc_of(e, w), uint32_t(__builtin_ctz(w->exec_bits)), EventKind::trap,
                    e->op.imm ? "brkpt executed" : "trap executed");
  return stop(w, e, Stop::aborted);
}

template <bool Full> const Exec* unsupported(const Exec* e, Warp* w, char* regs) {
  ASSAY_LEAVE_VECTORS();
  w->machine->fault(*w, pc_of(e, w), uint32_t(__builtin_ctz(w->exec_bits)), EventKind::unsupported,
                    "");
  return stop(w, e, Stop::aborted);
}

template <bool Full> const Exec* bar(const Exec* e, Warp* w, char* regs) {
  ASSAY_POINT(e, w);
  ASSAY_LEAVE_VECTORS();
  if (!w->machine->barrier_arrive(*w, e, regs))
    return stop(w, e, w->machine->abort ? Stop::aborted : Stop::barrier);
  if (w->machine->abort) return stop(w, e, Stop::aborted);
  return stop(w, e, Stop::moved);
}

// Do the lanes that execute fall into whole sets, each of which names itself and nobody else?
ASSAY_INLINE bool complete_sets(const Lanes<uint32_t>& mask, uint32_t active, uint32_t live) {
  for (uint32_t left = active; left;) {
    const uint32_t named = mask.v[__builtin_ctz(left)];
    uint32_t same = 0;
    for (uint32_t i = 0; i < 32; ++i) same |= uint32_t(mask.v[i] == named) << i;
    same &= active;
    if (same & ~named || (named & live) != same) return false;
    left &= ~same;
  }
  return true;
}

// The gathering of a warp-synchronous operation. Fast when all who are asked for are in this group.
template <bool Full> const Exec* meet(const Exec* e, Warp* w, char* regs) {
  ASSAY_POINT(e, w);
  const Operands& op = e->op;
  if (op.a == SlotPlace::none ? w->live == w->exec_bits
                              : complete_sets(lanes<uint32_t>(regs, op.a), w->exec_bits, w->live)) {
    w->deposit_lanes = w->exec_bits;
    if (op.b != SlotPlace::none) {
      if (op.imm >> 32 & 1) {
        w->deposit = lanes<uint64_t>(regs, op.b);
      } else {
        const auto& from = lanes<uint32_t>(regs, op.b);
        for (int i = 0; i < 32; ++i) w->deposit.v[i] = from.v[i];
      }
    }
    ASSAY_NEXT(e, w, regs);
  }
  ASSAY_LEAVE_VECTORS();
  if (!w->machine->meet_arrive(*w, e, regs))
    return stop(w, e, w->machine->abort ? Stop::aborted : Stop::meet);
  return stop(w, e, Stop::moved);
}

} // namespace assay::vgpu::ASSAY_LEVEL
