// Loads and stores of the common kinds: whole warp, consecutive or equal addresses, one region.
// Other patterns go to scattered.hpp, everything unusual to Machine::load and Machine::store.
// Included by core.cpp once per level. The short ways come first and keep no stack frame where no
// detector is to be told.
#pragma once

#include "vgpu/handlers/scattered.hpp"

namespace assay::vgpu::ASSAY_LEVEL {

// A range of a region that is inside and (for reads) initialised. Bytes: a power of two.
template <int Bytes, bool Shared> ASSAY_INLINE bool inside(const Region& r, uint64_t offset) {
  if (Shared) return offset + Bytes <= r.size; // of 32 bits
  return r.size >= uint64_t(Bytes) && offset <= r.size - Bytes;
}
template <int Bytes> ASSAY_INLINE bool initialised(const Region& r, uint64_t offset) {
  if constexpr (Bytes <= 16)
    return init_test_small(r.init, offset, Bytes);
  else
    return init_test_long<Bytes>(r.init, offset);
}

// The whole of an access that is not ordinary; false: the launch is at its end. In functions of
// their own, since a handler whose locals have addresses could not leave by a tail call.
template <class M, class R, int V, bool Shared, class A, bool Detect>
ASSAY_OTHER_WAY bool load_now(const Exec* e, Warp* w, char* regs) {
  if (scattered_load<M, R, V, Shared, A, Detect>(e, w, regs, w->exec_bits, w->exec)) return true;
  ASSAY_LEAVE_VECTORS();
  w->machine->load(*w, pc_of(e, w), op_of(e, w), regs, w->exec_bits);
  return !w->machine->abort;
}
template <class M, class R, int V, bool Shared, class A, bool Detect>
ASSAY_OTHER_WAY bool store_now(const Exec* e, Warp* w, char* regs) {
  if (scattered_store<M, R, V, Shared, A, Detect>(e, w, regs, w->exec_bits, w->exec)) return true;
  ASSAY_LEAVE_VECTORS();
  w->machine->store(*w, pc_of(e, w), op_of(e, w), regs, w->exec_bits);
  return !w->machine->abort;
}
template <class M, class R, int V, bool Shared, class A, bool Detect>
ASSAY_OTHER_WAY bool load_guarded_now(const Exec* e, Warp* w, char* regs) {
  Guarded g = guarded_lanes(e, w, regs);
  if (!g.bits || scattered_load<M, R, V, Shared, A, Detect>(e, w, regs, g.bits, g.active))
    return true;
  ASSAY_LEAVE_VECTORS();
  w->machine->load(*w, pc_of(e, w), op_of(e, w), regs, g.bits);
  return !w->machine->abort;
}
template <class M, class R, int V, bool Shared, class A, bool Detect>
ASSAY_OTHER_WAY bool store_guarded_now(const Exec* e, Warp* w, char* regs) {
  Guarded g = guarded_lanes(e, w, regs);
  if (!g.bits || scattered_store<M, R, V, Shared, A, Detect>(e, w, regs, g.bits, g.active))
    return true;
  ASSAY_LEAVE_VECTORS();
  w->machine->store(*w, pc_of(e, w), op_of(e, w), regs, g.bits);
  return !w->machine->abort;
}
template <bool Store> ASSAY_OTHER_WAY bool any_access_now(const Exec* e, Warp* w, char* regs) {
  uint32_t bits = e->op.flags & ir::kGuarded ? guarded_lanes(e, w, regs).bits : w->exec_bits;
  if (!bits) return true;
  ASSAY_LEAVE_VECTORS();
  if (Store)
    w->machine->store(*w, pc_of(e, w), op_of(e, w), regs, bits);
  else
    w->machine->load(*w, pc_of(e, w), op_of(e, w), regs, bits);
  return !w->machine->abort;
}

// Apart as well: inlined, its call would give the short ways a frame to set up at every access.
template <bool (*Now)(const Exec*, Warp*, char*)>
ASSAY_OTHER_WAY const Exec* access_by(const Exec* e, Warp* w, char* regs) {
  if (!Now(e, w, regs)) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}
#define ASSAY_LOAD_OTHER(e, w, regs)                                                               \
  return access_by<load_now<M, R, V, Shared, A, Detect>>((e), (w), (regs))
#define ASSAY_STORE_OTHER(e, w, regs)                                                              \
  return access_by<store_now<M, R, V, Shared, A, Detect>>((e), (w), (regs))

// Is there a region, and are offsets in it aligned as the addresses are?
template <bool Shared> ASSAY_INLINE bool ordinary(const Region* r) {
  return Shared || (r && !(r->base & 15));
}

// Tells the detector of an access at w->told, then goes on: a way of its own again, so that the
// handler needs no frame to call it from. Silent: a store that changed nothing.
enum class Heard { read_row, read_one, write_row, write_silent };
// Of a path: what addresses they are, not whether the bytes were there before, which follows the
// poison of memory that is merely copied.
constexpr uint64_t kind_of_addresses(Heard what) {
  return uint64_t(what == Heard::write_silent ? Heard::write_row : what);
}
template <int Bytes, bool Shared, Heard What>
ASSAY_OTHER_WAY const Exec* tell(const Exec* e, Warp* w, char* regs) {
  constexpr uint16_t kAttributes = race::weak_attributes(
      What == Heard::write_row || What == Heard::write_silent, What == Heard::write_silent, Bytes);
  ASSAY_LEAVE_VECTORS();
  Machine& m = *w->machine;
  if (What == Heard::read_one)
    m.detector->broadcast(kSpace<Shared>, m.agent(*w), kAllLanes, w->told, pc_of(e, w),
                          kAttributes);
  else
    m.detector->affine(kSpace<Shared>, m.agent(*w), w->told, pc_of(e, w), kAttributes);
  if (m.hash_path) [[unlikely]] { // all there is to know of the addresses of this way
    m.path(w->told);
    m.path(kind_of_addresses(What));
  }
  ASSAY_NEXT(e, w, regs);
}
#define ASSAY_TELL(What)                                                                           \
  if (Detect) {                                                                                    \
    w->told = address;                                                                             \
    if (r->tracked) ASSAY_TAIL tell<kBytes, Shared, What>(e, w, regs);                             \
    if (w->machine->hash_path) [[unlikely]] {                                                      \
      w->machine->path(address);                                                                   \
      w->machine->path(kind_of_addresses(What));                                                   \
    }                                                                                              \
  }                                                                                                \
  static_cast<void>(0)

// affine<Stride>(a), looked at once only where the addresses are fixed. That the first two lanes
// are Stride apart has been seen.
template <int Stride, class A>
ASSAY_INLINE bool evenly_spaced(const Lanes<A>& a, Warp* w, uint32_t bit) {
  if (w->seen & bit) return true;
  if (!affine<Stride>(a)) return false;
  w->seen |= bit;
  return true;
}

// Spreads the interleaved elements of all lanes over V registers.
template <class M, class R, int V>
ASSAY_INLINE void spread(const uint8_t* from, const Exec* e, const Warp* w, char* regs) {
  if constexpr (V == 1) {
    auto& d = lanes<R>(regs, e->op.d);
    if constexpr (sizeof(M) == sizeof(R)) {
      std::memcpy(d.v, from, sizeof d.v);
    } else {
      M values[kLanes];
      std::memcpy(values, from, sizeof values);
      for (int i = 0; i < kLanes; ++i) d.v[i] = R(values[i]);
    }
  } else if constexpr (V == 4) {
    const ir::MemInfo& info = w->program->mem[e->op.mem()];
    Lanes<uint32_t>* const rows[4] = {
        &lanes<uint32_t>(regs, info.regs[0]), &lanes<uint32_t>(regs, info.regs[1]),
        &lanes<uint32_t>(regs, info.regs[2]), &lanes<uint32_t>(regs, info.regs[3])};
    load_quads(rows, [from](int i) { return from + 16 * i; });
  } else {
    const ir::MemInfo& info = w->program->mem[e->op.mem()];
    for (int k = 0; k < V; ++k) {
      auto& d = lanes<R>(regs, info.regs[k]);
      M values[kLanes * V];
      std::memcpy(values, from, sizeof values);
      for (int i = 0; i < kLanes; ++i) d.v[i] = R(values[i * V + k]);
    }
  }
}

// Init: the region has bytes that nobody has written; apart, again for the frame.
template <class M, class R, int V, bool Shared, class A, bool Full, bool Detect, bool Init = false>
const Exec* load(const Exec* e, Warp* w, char* regs) {
  constexpr int kBytes = int(sizeof(M)) * V;
  if (!Full) ASSAY_LOAD_OTHER(e, w, regs);
  const auto& a = lanes<A>(regs, e->op.a);
  uint64_t address = uint64_t(a.v[0]) + e->op.imm;
  if (Shared) address = uint32_t(address);
  A step = a.v[1] - a.v[0];
  Region* r = region_of<Shared>(w, address);
  if (!ordinary<Shared>(r) || address & (kBytes - 1)) ASSAY_LOAD_OTHER(e, w, regs);
  if (!Init && r->init) ASSAY_TAIL load<M, R, V, Shared, A, Full, Detect, true>(e, w, regs);
  uint64_t offset = Shared ? address : address - r->base;
  if (step == A(kBytes)) {
    if (!evenly_spaced<kBytes>(a, w, e->op.bit_of_load()) ||
        !inside<kBytes * 32, Shared>(*r, offset) || (Init && !initialised<kBytes * 32>(*r, offset)))
      ASSAY_LOAD_OTHER(e, w, regs);
    spread<M, R, V>(r->host + offset, e, w, regs);
    ASSAY_TELL(Heard::read_row);
  } else if (V == 1 && step == 0) {
    if (!evenly_spaced<0>(a, w, e->op.bit_of_load()) || !inside<kBytes, Shared>(*r, offset) ||
        (Init && !initialised<kBytes>(*r, offset)))
      ASSAY_LOAD_OTHER(e, w, regs);
    M value;
    std::memcpy(&value, r->host + offset, sizeof value);
    auto& d = lanes<R>(regs, e->op.d);
    for (int i = 0; i < kLanes; ++i) d.v[i] = R(value);
    ASSAY_TELL(Heard::read_one);
  } else {
    ASSAY_LOAD_OTHER(e, w, regs);
  }
  ASSAY_NEXT(e, w, regs);
}

// The same where lowering expects equal addresses: of its own, so that the processor's predictor
// sees apart what reads rows and what reads single values, which alternate in matrix products.
template <class M, class R, bool Shared, class A, bool Detect>
const Exec* load_uniform(const Exec* e, Warp* w, char* regs) {
  constexpr int kBytes = int(sizeof(M));
  const auto& a = lanes<A>(regs, e->op.a);
  uint64_t address = uint64_t(a.v[0]) + e->op.imm;
  if (Shared) address = uint32_t(address);
  const Region* r = region_of<Shared>(w, address);
  if (!ordinary<Shared>(r) || address & (kBytes - 1) || r->init || a.v[1] != a.v[0] ||
      !evenly_spaced<0>(a, w, e->op.bit_of_load()))
    ASSAY_TAIL load<M, R, 1, Shared, A, true, Detect>(e, w, regs);
  uint64_t offset = Shared ? address : address - r->base;
  if (!inside<kBytes, Shared>(*r, offset))
    ASSAY_TAIL load<M, R, 1, Shared, A, true, Detect>(e, w, regs);
  M value;
  std::memcpy(&value, r->host + offset, sizeof value);
  auto& d = lanes<R>(regs, e->op.d);
  for (int i = 0; i < kLanes; ++i) d.v[i] = R(value);
  ASSAY_TELL(Heard::read_one);
  ASSAY_NEXT(e, w, regs);
}

// The other way round: what all lanes store, as it will lie in memory. Not in a local variable,
// whose address would cost the handler its tail call.
template <class M, class R, int V>
ASSAY_INLINE const uint8_t* gathered(const Exec* e, const Warp* w, char* regs) {
  if constexpr (V == 1 && sizeof(M) == sizeof(R))
    return reinterpret_cast<const uint8_t*>(regs + uint32_t(e->op.b));
  M* values = reinterpret_cast<M*>(w->machine->row);
  if constexpr (V == 1) {
    const auto& s = lanes<R>(regs, e->op.b);
    for (int i = 0; i < kLanes; ++i) values[i] = M(s.v[i]);
  } else if constexpr (V == 4) {
    const ir::MemInfo& info = w->program->mem[e->op.mem()];
    const Lanes<uint32_t>* const rows[4] = {
        &lanes<uint32_t>(regs, info.regs[0]), &lanes<uint32_t>(regs, info.regs[1]),
        &lanes<uint32_t>(regs, info.regs[2]), &lanes<uint32_t>(regs, info.regs[3])};
    store_quads(rows, [&](int i) { return values + 4 * i; });
  } else {
    const ir::MemInfo& info = w->program->mem[e->op.mem()];
    for (int k = 0; k < V; ++k) {
      const auto& s = lanes<R>(regs, info.regs[k]);
      for (int i = 0; i < kLanes; ++i) values[i * V + k] = M(s.v[i]);
    }
  }
  return w->machine->row;
}

template <class M, class R, int V, bool Shared, class A, bool Full, bool Detect>
const Exec* store(const Exec* e, Warp* w, char* regs) {
  constexpr int kBytes = int(sizeof(M)) * V;
  if (!Full) ASSAY_STORE_OTHER(e, w, regs);
  const auto& a = lanes<A>(regs, e->op.a);
  uint64_t address = uint64_t(a.v[0]) + e->op.imm;
  if (Shared) address = uint32_t(address);
  Region* r = region_of<Shared>(w, address);
  if (!ordinary<Shared>(r) || address & (kBytes - 1) || r->read_only || r->retrack_on_store ||
      A(a.v[1] - a.v[0]) != A(kBytes) || !evenly_spaced<kBytes>(a, w, e->op.bit_of_store()))
    ASSAY_STORE_OTHER(e, w, regs);
  uint64_t offset = Shared ? address : address - r->base;
  if (!inside<kBytes * 32, Shared>(*r, offset)) ASSAY_STORE_OTHER(e, w, regs);
  uint8_t* to = r->host + offset;
  const uint8_t* from = gathered<M, R, V>(e, w, regs);
  // Only a store that changes a byte is progress: a spin loop may store what is there already.
  bool changed = differ<kBytes * 32>(to, from);
  w->stored |= changed;
  std::memcpy(to, from, kBytes * 32);
  if (r->init) init_set_long<kBytes * 32>(r->init, offset);
  if (changed) {
    ASSAY_TELL(Heard::write_row);
  } else {
    ASSAY_TELL(Heard::write_silent);
  }
  ASSAY_NEXT(e, w, regs);
}

// Kernel parameters at a fixed offset: the same for all lanes.
template <class R, bool Full> const Exec* load_parameter(const Exec* e, Warp* w, char* regs) {
  const ir::MemInfo& info = w->program->mem[e->op.mem()];
  const auto& block = w->machine->parameters;
  if (e->op.imm + info.bytes * info.vector <= block.size()) {
    for (int k = 0; k < info.vector; ++k) {
      if (info.regs[k] == ir::kNoSlot) continue;
      R value;
      std::memcpy(&value, block.data() + e->op.imm + k * info.bytes, sizeof value);
      auto& to = lanes<R>(regs, info.regs[k]);
      for (int i = 0; i < kLanes; ++i) to.v[i] = w->exec.v[i] ? value : to.v[i];
    }
    ASSAY_NEXT(e, w, regs);
  }
  ASSAY_LEAVE_VECTORS();
  w->machine->load(*w, pc_of(e, w), op_of(e, w), regs, w->exec_bits);
  if (w->machine->abort) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}

// The general forms; Point: a strong access, which is a scheduling point.
template <bool Point, bool Store> const Exec* any_access(const Exec* e, Warp* w, char* regs) {
  if (Point) {
    ASSAY_POINT(e, w);
  }
  if (!any_access_now<Store>(e, w, regs)) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}

// -- which handler --------------------------------------------------------------------------------

// Calls choose.operator()<M, R, V>() for the element types that have handlers of their own.
template <class Choose> Handler by_shape(const ir::MemInfo& m, bool load, Choose choose) {
  for (int k = 0; k < m.vector; ++k)
    if (m.regs[k] == ir::kNoSlot) return nullptr;
  bool narrow = m.register_bits <= 32, wide = m.register_bits == 64;
  if (m.vector == 1 && m.bytes == 4 && narrow)
    return choose.template operator()<uint32_t, uint32_t, 1>();
  if (m.vector == 1 && m.bytes == 8 && wide)
    return choose.template operator()<uint64_t, uint64_t, 1>();
  if (m.vector == 2 && m.bytes == 4 && narrow)
    return choose.template operator()<uint32_t, uint32_t, 2>();
  if (m.vector == 4 && m.bytes == 4 && narrow)
    return choose.template operator()<uint32_t, uint32_t, 4>();
  bool extends = load && ptx::is_signed(m.type);
  if (m.vector == 1 && m.bytes == 2 && narrow && (!extends || m.register_bits == 16))
    return choose.template operator()<uint16_t, uint32_t, 1>();
  if (m.vector == 1 && m.bytes == 1 && narrow && !extends)
    return choose.template operator()<uint8_t, uint32_t, 1>();
  return nullptr;
}

// The same for the space and the width of the address: choose.operator()<M, R, V, Shared, A>().
template <class Choose>
Handler by_kind(const ir::MemInfo& m, const ir::Op& op, bool load, Choose choose) {
  if (m.semantics != ir::Semantics::weak || op.a == ir::kNoSlot || m.frame) return nullptr;
  bool shared = m.space == ptx::Space::shared || m.space == ptx::Space::shared_cta;
  bool global = m.space == ptx::Space::global || (load && m.space == ptx::Space::constant);
  auto of = [&]<bool Shared, class A>() {
    return by_shape(m, load, [&]<class M, class R, int V>() -> Handler {
      return choose.template operator()<M, R, V, Shared, A>();
    });
  };
  if (shared && !m.address64) return of.template operator()<true, uint32_t>();
  if (global && m.address64) return of.template operator()<false, uint64_t>();
  return nullptr;
}

template <bool Full, bool Detect> Handler load_handler(const ir::MemInfo& m, const ir::Op& op) {
  bool guarded = op.flags & ir::kGuarded;
  if (m.space == ptx::Space::param_entry && op.a == ir::kNoSlot && !guarded &&
      (m.bytes == 4 || m.bytes == 8) && m.register_bits == m.bytes * 8)
    return m.bytes == 4 ? load_parameter<uint32_t, Full> : load_parameter<uint64_t, Full>;
  Handler h = nullptr;
  if (!m.nc || !Detect) // the detector is told of .nc by the general form
    h = by_kind(m, op, true, [&]<class M, class R, int V, bool Shared, class A>() -> Handler {
      if (guarded) return access_by<load_guarded_now<M, R, V, Shared, A, Detect>>;
      if constexpr (V == 1 && Full)
        if (m.pattern == ir::AddressPattern::uniform) return load_uniform<M, R, Shared, A, Detect>;
      return load<M, R, V, Shared, A, Full, Detect>;
    });
  if (h) return h;
  return m.semantics == ir::Semantics::weak ? any_access<false, false> : any_access<true, false>;
}

template <bool Full, bool Detect> Handler store_handler(const ir::MemInfo& m, const ir::Op& op) {
  Handler h =
      by_kind(m, op, false, [&]<class M, class R, int V, bool Shared, class A>() -> Handler {
        if (op.flags & ir::kGuarded)
          return access_by<store_guarded_now<M, R, V, Shared, A, Detect>>;
        return store<M, R, V, Shared, A, Full, Detect>;
      });
  if (h) return h;
  return m.semantics == ir::Semantics::weak ? any_access<false, true> : any_access<true, true>;
}

} // namespace assay::vgpu::ASSAY_LEVEL
