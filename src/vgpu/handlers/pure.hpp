// How a body becomes the three handlers of a pure operation, and the short forms in which bodies
// are written. A body is `template <bool Full> void name(op, masks, regs)`; most are one scalar
// lambda lifted by map. Included by the pure_*.cpp files only, which are compiled once per vector
// level.
#pragma once

#include "vgpu/exec.hpp"
#include "vgpu/handlers/table.hpp"

#include <bit>

namespace assay::vgpu::ASSAY_LEVEL {

using Op = Operands;

// Warp derives from WarpMasks first (asserted in vgpu/warp.hpp); bodies need no more of it.
ASSAY_INLINE const WarpMasks& masks_of(const Warp* w) {
  return *reinterpret_cast<const WarpMasks*>(w);
}

using MaskedBody = void (*)(const Op& op, const WarpMasks& w, char* regs);

// Runs the body in those lanes of `w` in which the operation's guard holds.
ASSAY_INLINE void run_guarded(const Op& op, const WarpMasks& w, char* regs, MaskedBody body) {
  WarpMasks guarded;
  const Lanes<int32_t>& guard = lanes<int32_t>(regs, op.guard);
  int32_t flip = op.flags & ir::kGuardNegated ? -1 : 0, any = 0;
  ASSAY_LANE_LOOP for (int i = 0; i < kLanes; ++i) {
    int32_t on = w.exec.v[i] & (guard.v[i] ^ flip);
    guarded.exec.v[i] = on;
    any |= on;
  }
  if (any) body(op, guarded, regs);
}

// Defines the body `name` with operands A, B, C: d = result for each lane.
#define ASSAY_UNARY(name, D, A, expression)                                                        \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    map<Full>(                                                                                     \
        lanes<D>(regs, op.d), w.exec, [](A a) -> D { return D(expression); },                      \
        lanes<A>(regs, op.a));                                                                     \
  }
#define ASSAY_BINARY(name, D, A, B, expression)                                                    \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    map<Full>(                                                                                     \
        lanes<D>(regs, op.d), w.exec, [](A a, B b) -> D { return D(expression); },                 \
        lanes<A>(regs, op.a), lanes<B>(regs, op.b));                                               \
  }
#define ASSAY_TERNARY(name, D, A, B, C, expression)                                                \
  template <bool Full> ASSAY_INLINE void name(const Op& op, const WarpMasks& w, char* regs) {      \
    map<Full>(                                                                                     \
        lanes<D>(regs, op.d), w.exec, [](A a, B b, C c) -> D { return D(expression); },            \
        lanes<A>(regs, op.a), lanes<B>(regs, op.b), lanes<C>(regs, op.c));                         \
  }

// The handlers of body `name`.
#define ASSAY_PURE_HANDLERS(name)                                                                  \
  PureHandlers {                                                                                   \
    [](const Exec* e, Warp* w, char* regs) -> const Exec* {                                        \
      name<true>(e->op, masks_of(w), regs);                                                        \
      ASSAY_NEXT_OF_LAMBDA(e, w, regs);                                                            \
    },                                                                                             \
        [](const Exec* e, Warp* w, char* regs) -> const Exec* {                                    \
          name<false>(e->op, masks_of(w), regs);                                                   \
          ASSAY_NEXT_OF_LAMBDA(e, w, regs);                                                        \
        },                                                                                         \
        [](const Exec* e, Warp* w, char* regs) -> const Exec* {                                    \
          run_guarded(e->op, masks_of(w), regs, name<false>);                                      \
          ASSAY_NEXT_OF_LAMBDA(e, w, regs);                                                        \
        }                                                                                          \
  }

} // namespace assay::vgpu::ASSAY_LEVEL
