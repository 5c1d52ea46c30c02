// The handler table of one vector level: control flow, memory, and the operations that call the
// machine. Compiled once per level (ASSAY_LEVEL names the namespace); pure operations come from the
// pure_*.cpp files of the same level.
#include "ir/special.hpp"
#include "vgpu/handlers/memory.hpp"
#include "vgpu/handlers/mma.hpp"
#include "vgpu/handlers/table.hpp"

#define ASSAY_STRING_(x) #x
#define ASSAY_STRING(x) ASSAY_STRING_(x)

namespace assay::vgpu::ASSAY_LEVEL {

namespace {

// Runs `body` with the lanes in which the operation's guard holds.
template <class Body> ASSAY_INLINE bool guarded(const Exec* e, Warp* w, char* regs, Body body) {
  const Operands& op = e->op;
  if (!(op.flags & ir::kGuarded)) {
    body(w->exec_bits);
    return true;
  }
  uint32_t bits = predicate_bits(lanes<int32_t>(regs, op.guard));
  if (op.flags & ir::kGuardNegated) bits = ~bits;
  bits &= w->exec_bits;
  if (bits) body(bits);
  return bits != 0;
}

// An operation that the machine performs for the lanes of exec; Point: a scheduling point.
template <void (*F)(Warp&, uint32_t, const ir::Op&, char*), bool Point>
const Exec* service(const Exec* e, Warp* w, char* regs) {
  if (Point) {
    ASSAY_POINT(e, w);
  }
  ASSAY_LEAVE_VECTORS();
  F(*w, pc_of(e, w), op_of(e, w), regs);
  if (w->machine->abort) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}

void do_atomic(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  w.machine->atomic(w, pc, op, regs);
}
void do_warp(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  w.machine->warp_synchronous(w, pc, op, regs);
}
void do_matrix(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  w.machine->matrix_memory(w, pc, op, regs);
}
void do_special(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  w.machine->special(w, pc, op, regs);
}
void do_runtime(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  w.machine->runtime_call(w, pc, op, regs);
}
void do_mbarrier(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  w.machine->mbarrier(w, pc, op, regs);
}
void do_copy_arrive(Warp& w, uint32_t pc, const ir::Op& op, char* regs) {
  w.machine->copy_arrive(w, pc, op, regs);
}
void do_fence(Warp& w, uint32_t, const ir::Op& op, char*) { w.machine->fence(w, op); }
void do_nothing(Warp&, uint32_t, const ir::Op&, char*) {}

const Exec* cp_async(const Exec* e, Warp* w, char* regs) {
  ASSAY_POINT(e, w);
  guarded(e, w, regs, [&](uint32_t bits) {
    ASSAY_LEAVE_VECTORS();
    w->machine->copy_issue(*w, pc_of(e, w), op_of(e, w), regs, bits);
  });
  if (w->machine->abort) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}
const Exec* cp_async_commit(const Exec* e, Warp* w, char* regs) {
  for (uint32_t i = 0; i < 32; ++i)
    if (w->exec_bits >> i & 1) ++w->copy_group[i];
  ASSAY_NEXT(e, w, regs);
}
const Exec* cp_async_wait(const Exec* e, Warp* w, char* regs) {
  ASSAY_POINT(e, w);
  ASSAY_LEAVE_VECTORS();
  if (!w->machine->copy_wait(*w, op_of(e, w))) return stop(w, e, Stop::async);
  ASSAY_NEXT(e, w, regs);
}

const Exec* mbarrier_wait(const Exec* e, Warp* w, char* regs) {
  ASSAY_POINT(e, w);
  ASSAY_LEAVE_VECTORS();
  if (!w->machine->mbarrier_wait(*w, pc_of(e, w), op_of(e, w), regs))
    return stop(w, e, w->machine->abort ? Stop::aborted : Stop::async);
  ASSAY_NEXT(e, w, regs);
}

const Exec* grid_dependents(const Exec* e, Warp* w, char* regs) {
  ASSAY_POINT(e, w);
  ASSAY_LEAVE_VECTORS();
  if (!w->machine->grid_dependents(*w, op_of(e, w))) return stop(w, e, Stop::async);
  ASSAY_NEXT(e, w, regs);
}

const Exec* mma_op(const Exec* e, Warp* w, char* regs) {
  if (w->exec_bits != kAllLanes) {
    ASSAY_LEAVE_VECTORS();
    w->machine->fault(*w, pc_of(e, w), uint32_t(__builtin_ctz(w->exec_bits)),
                      EventKind::illegal_operation,
                      "mma executed without all 32 lanes of the warp");
    return stop(w, e, Stop::aborted);
  }
  ASSAY_LEAVE_VECTORS();
  mma_execute(w->program->mmas[e->op.imm], regs, w->machine->job.device.compute_capability);
  ASSAY_NEXT(e, w, regs);
}

// The original handler of an armed operation, once the machine lets it pass.
const Exec* armed(const Exec* e, Warp* w, char* regs) {
  ASSAY_LEAVE_VECTORS();
  if (w->machine->armed(*w, pc_of(e, w), op_of(e, w), regs)) return stop(w, e, Stop::point);
  return w->machine->original(*w, e)(e, w, regs);
}

// Uses of what the manual leaves open: rare, so all that costs is to look.
ASSAY_INLINE void use_open(const Exec* e, Warp* w, char* regs, uint32_t bits) {
  if (e->op.c != SlotPlace::none) {
    uint32_t guard = predicate_bits(lanes<int32_t>(regs, e->op.c));
    bits &= e->op.flags & ir::kNegate ? ~guard : guard;
  }
  if (!bits) return;
  ASSAY_LEAVE_VECTORS();
  w->machine->open_register(*w, pc_of(e, w), op_of(e, w), regs, bits);
}
const Exec* check_written(const Exec* e, Warp* w, char* regs) {
  uint32_t open = w->exec_bits & ~predicate_bits(lanes<int32_t>(regs, e->op.a));
  if (open) [[unlikely]]
    use_open(e, w, regs, open);
  ASSAY_NEXT(e, w, regs);
}
template <class T, bool (*Open)(T)> const Exec* check_operand(const Exec* e, Warp* w, char* regs) {
  const auto& operand = lanes<T>(regs, e->op.a);
  uint32_t open = 0;
  for (int i = 0; i < kLanes; ++i) open |= uint32_t(Open(operand.v[i])) << i;
  if (open & w->exec_bits) [[unlikely]]
    use_open(e, w, regs, open & w->exec_bits);
  ASSAY_NEXT(e, w, regs);
}
template <class T> bool is_zero(T divisor) { return divisor == 0; }
bool is_no_bit(uint32_t base) { return base > 31; }

// Special registers that do not change while a warp runs: a copy of prepared lanes, or one value.
template <bool Full> const Exec* fixed_special(const Exec* e, Warp* w, char* regs) {
  auto s = ir::Special(e->op.imm & 255);
  auto& d = lanes<uint32_t>(regs, e->op.d);
  if (s <= ir::Special::tid_z) {
    map<Full>(d, w->exec, [](uint32_t v) { return v; }, w->tid[uint32_t(s)]);
  } else {
    uint32_t value = s <= ir::Special::ntid_z
                         ? w->machine->launch.block[uint32_t(s) - uint32_t(ir::Special::ntid_x)]
                     : s <= ir::Special::ctaid_z
                         ? w->cta->id[uint32_t(s) - uint32_t(ir::Special::ctaid_x)]
                         : w->machine->launch.grid[uint32_t(s) - uint32_t(ir::Special::nctaid_x)];
    for (int i = 0; i < kLanes; ++i) d.v[i] = Full || w->exec.v[i] ? value : d.v[i];
  }
  ASSAY_NEXT(e, w, regs);
}

bool is_fixed(const ir::Op& op) {
  auto s = ir::Special(op.imm & 255);
  return op.code == ir::OpCode::special &&
         (s <= ir::Special::ntid_z || (s >= ir::Special::ctaid_x && s <= ir::Special::nctaid_z));
}

template <bool Full, bool Detect> Handler core_handler(const ir::Program& p, const ir::Op& op) {
  using C = ir::OpCode;
  switch (op.code) {
  case C::jump: return jump<Full>;
  case C::branch: return branch<Full>;
  case C::brx: return brx<Full>;
  case C::join: return join<Full>;
  case C::call: return call<Full>;
  case C::call_indirect: return call_indirect<Full>;
  case C::ret: return ret<Full>;
  case C::exit: return exit<Full>;
  case C::trap: return trap<Full>;
  case C::special: return is_fixed(op) ? fixed_special<Full> : service<do_special, false>;
  case C::check_written: return check_written;
  case C::check_divisor:
    return op.imm == 64 ? check_operand<uint64_t, is_zero> : check_operand<uint32_t, is_zero>;
  case C::check_base: return check_operand<uint32_t, is_no_bit>;
  case C::frame_address:
  case C::activemask:
  case C::isspacep:
  case C::alloca_:
  case C::stacksave:
  case C::stackrestore: return service<do_special, false>;
  case C::ld: return load_handler<Full, Detect>(p.mem[op.c], op);
  case C::st: return store_handler<Full, Detect>(p.mem[op.c], op);
  case C::atom:
  case C::red: return service<do_atomic, true>;
  case C::prefetch:
  case C::fence_proxy: return service<do_nothing, false>;
  case C::grid_dependents: return grid_dependents;
  case C::nanosleep: return service<do_nothing, true>;
  case C::mbarrier_init:
  case C::mbarrier_inval:
  case C::mbarrier_arrive:
  case C::mbarrier_tx: return service<do_mbarrier, true>;
  case C::mbarrier_pending: return service<do_mbarrier, false>;
  case C::mbarrier_wait: return mbarrier_wait;
  case C::cp_async_arrive: return service<do_copy_arrive, true>;
  case C::cp_async: return cp_async;
  case C::cp_async_commit: return cp_async_commit;
  case C::cp_async_wait: return cp_async_wait;
  case C::ldmatrix:
  case C::stmatrix: return service<do_matrix, false>;
  case C::meet: return meet<Full>;
  case C::shfl:
  case C::vote:
  case C::match:
  case C::redux:
  case C::elect:
  case C::bar_warp_sync:
  case C::movmatrix: return service<do_warp, false>;
  case C::mma: return mma_op;
  case C::bar: return bar<Full>;
  case C::fence: return service<do_fence, true>;
  case C::vprintf:
  case C::assertfail:
  case C::malloc_:
  case C::free_: return service<do_runtime, true>;
  default: return unsupported<Full>;
  }
}

Handler handler(const ir::Program& p, const ir::Op& op, bool full, bool detect) {
  uint32_t code = uint32_t(op.code), first = uint32_t(kFirstPure);
  if (code >= first) {
    const PureHandlers& h = pure_handlers()[code - first];
    return op.flags & ir::kGuarded ? h.guarded : full ? h.full : h.masked;
  }
  if (full) return detect ? core_handler<true, true>(p, op) : core_handler<true, false>(p, op);
  return detect ? core_handler<false, true>(p, op) : core_handler<false, false>(p, op);
}

const Exec* dispatch(const Exec* e, Warp* w, char* regs) {
  w->stop = false;
#if ASSAY_TAIL_CALLS
  e = e->run(e, w, regs);
#else
  while (!w->stop) e = e->run(e, w, regs);
#endif
  ASSAY_LEAVE_VECTORS();
  return e;
}

} // namespace

extern const Level kLevel;
const Level kLevel = {ASSAY_STRING(ASSAY_LEVEL), handler, armed, dispatch};

} // namespace assay::vgpu::ASSAY_LEVEL
