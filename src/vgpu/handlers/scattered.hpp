// Loads and stores of any pattern and any mask inside one region: gathers, broadcasts, the last row
// of an odd size. They read and write exactly like Machine::load and Machine::store, which take
// over whenever something is to be reported. Included by core.cpp once per level.
#pragma once

#include "vgpu/handlers/control.hpp"
#include "vgpu/handlers/patterns.hpp"

namespace assay::vgpu::ASSAY_LEVEL {

ASSAY_INLINE race::AccessInfo plain(const Exec* e, const Warp* w, bool write, uint32_t bytes) {
  race::AccessInfo info;
  info.pc = pc_of(e, w);
  info.write = write;
  info.read = !write;
  info.bytes = uint8_t(bytes);
  return info;
}

template <bool Shared> ASSAY_INLINE Region* region_of(Warp* w, uint64_t address) {
  return Shared ? &w->cta->shared : w->machine->memory.find(address);
}
template <bool Shared>
constexpr race::Space kSpace = Shared ? race::Space::shared : race::Space::global;

// Where the lanes of one access lie in their region; lanes outside the mask stand at the first one.
struct Scattered {
  Region* region;
  uint32_t bits, first; // lanes; the place of the lowest
  Lanes<uint32_t> offset;
};

// False: not in one region, out of bounds, misaligned, or a region of an unusual kind.
template <int Bytes, bool Shared, class A>
ASSAY_INLINE bool scatter(Scattered& s, const Exec* e, Warp* w, char* regs, uint32_t bits,
                          const Lanes<int32_t>& active) {
  const auto& a = lanes<A>(regs, e->op.a);
  uint64_t lowest = uint64_t(a.v[__builtin_ctz(bits)]) + e->op.imm;
  if (Shared) lowest = uint32_t(lowest);
  Region* r = region_of<Shared>(w, lowest);
  if (!r || r->size < uint64_t(Bytes) || r->size >> 31 || r->base & 15) return false;
  const uint64_t base = r->base, first = lowest - base;
  if (first >> 31) return false;
  s.region = r;
  s.bits = bits;
  s.first = uint32_t(first);
  Lanes<uint32_t> bad; // not 0: outside or misaligned; before all the high half of the offset
  static_assert(sizeof(A) == (Shared ? 4 : 8)); // by_kind chooses no other
  if constexpr (Shared) {
    const uint32_t shift = uint32_t(e->op.imm);
    for (int i = 0; i < kLanes; ++i) {
      s.offset.v[i] = a.v[i] + shift;
      bad.v[i] = 0;
    }
  } else {
    const uint64_t shift = e->op.imm - base;
    for (int i = 0; i < kLanes; ++i) {
      uint64_t o = a.v[i] + shift;
      s.offset.v[i] = uint32_t(o);
      bad.v[i] = uint32_t(o >> 32);
    }
  }
  const uint32_t last = uint32_t(r->size) - Bytes, at_first = s.first;
  for (int i = 0; i < kLanes; ++i) {
    uint32_t o = s.offset.v[i], on = uint32_t(active.v[i]);
    bad.v[i] = (bad.v[i] | uint32_t(o > last) | (o & (Bytes - 1))) & on;
    s.offset.v[i] = on ? o : at_first;
  }
  return !any(bad);
}

// Are all the bytes that the lanes read initialised?
template <int Bytes> ASSAY_INLINE bool initialised(const Scattered& s) {
  if (!s.region->init) return true;
  Lanes<uint32_t> word, bad;
  for (int i = 0; i < kLanes; ++i) word.v[i] = s.offset.v[i] >> 5 << 2;
  gather32(word, s.region->init, word);
  constexpr uint32_t kMask = (1u << Bytes) - 1;
  for (int i = 0; i < kLanes; ++i) bad.v[i] = ~(word.v[i] >> (s.offset.v[i] & 31)) & kMask;
  return !any(bad);
}

template <class M, class R, int V, bool Shared, class A, bool Detect>
ASSAY_INLINE bool scattered_load(const Exec* e, Warp* w, char* regs, uint32_t bits,
                                 const Lanes<int32_t>& active) {
  constexpr int kBytes = int(sizeof(M)) * V;
  Scattered s;
  if (!scatter<kBytes, Shared, A>(s, e, w, regs, bits, active) || !initialised<kBytes>(s) ||
      (Detect && w->machine->hash_path))
    return false;
  const uint8_t* host = s.region->host;
  if constexpr (V == 1 && sizeof(M) == 4) {
    Lanes<uint32_t> value;
    gather32(value, host, s.offset);
    map<false>(lanes<uint32_t>(regs, e->op.d), active, [](uint32_t v) { return v; }, value);
  } else if constexpr (V == 4) {
    const ir::MemInfo& info = w->program->mem[e->op.mem()];
    Lanes<uint32_t> value[4];
    Lanes<uint32_t>* const rows[4] = {&value[0], &value[1], &value[2], &value[3]};
    load_quads(rows, [&](int i) { return host + s.offset.v[i]; });
    for (int k = 0; k < 4; ++k)
      map<false>(
          lanes<uint32_t>(regs, info.regs[k]), active, [](uint32_t v) { return v; }, value[k]);
  } else {
    const ir::MemInfo& info = w->program->mem[e->op.mem()];
    for (int k = 0; k < V; ++k) {
      auto& d = V == 1 ? lanes<R>(regs, e->op.d) : lanes<R>(regs, info.regs[k]);
      for (int i = 0; i < kLanes; ++i) {
        M value;
        std::memcpy(&value, host + s.offset.v[i] + k * sizeof(M), sizeof value);
        R old = d.v[i];
        d.v[i] = active.v[i] ? R(value) : old;
      }
    }
  }
  if (Detect && s.region->tracked) {
    uint64_t base = s.region->base;
    race::Detector& detector = *w->machine->detector;
    const race::Agent agent = w->machine->agent(*w);
    const uint16_t attributes = race::weak_attributes(false, false, kBytes);
    const uint32_t pc = pc_of(e, w);
    if (halves<0>(s.offset)) {
      uint32_t high = s.offset.v[16];
      ASSAY_LEAVE_VECTORS();
      // Lanes outside the mask stand at the first place.
      if (high == s.first) {
        detector.broadcast(kSpace<Shared>, agent, bits, base + s.first, pc, attributes);
        return true;
      }
      if (bits == kAllLanes) {
        detector.broadcast(kSpace<Shared>, agent, 0xffffu, base + s.first, pc, attributes);
        detector.broadcast(kSpace<Shared>, agent, 0xffff0000u, base + high, pc, attributes);
        return true;
      }
    } else if (bits == kAllLanes && halves<kBytes>(s.offset)) {
      ASSAY_LEAVE_VECTORS();
      detector.row_part(kSpace<Shared>, agent, 0xffffu, base + s.first, pc, attributes);
      detector.row_part(kSpace<Shared>, agent, 0xffff0000u, base + s.offset.v[16] - 16 * kBytes, pc,
                        attributes);
      return true;
    }
    alignas(64) uint64_t address[kLanes];
    for (int i = 0; i < kLanes; ++i) address[i] = base + s.offset.v[i];
    ASSAY_LEAVE_VECTORS();
    detector.access(kSpace<Shared>, agent, bits, address, plain(e, w, false, kBytes), nullptr, 0,
                    0);
  }
  return true;
}

template <class M, class R, int V, bool Shared, class A, bool Detect>
ASSAY_INLINE bool scattered_store(const Exec* e, Warp* w, char* regs, uint32_t bits,
                                  const Lanes<int32_t>& active) {
  constexpr int kBytes = int(sizeof(M)) * V;
  Scattered s;
  if (!scatter<kBytes, Shared, A>(s, e, w, regs, bits, active) || s.region->read_only ||
      s.region->retrack_on_store || (Detect && w->machine->hash_path))
    return false;
  uint8_t* host = s.region->host;
  const ir::MemInfo& info = w->program->mem[e->op.mem()];
  alignas(64) M values[kLanes][V];
  if constexpr (V == 4) {
    const Lanes<uint32_t>* const rows[4] = {
        &lanes<uint32_t>(regs, info.regs[0]), &lanes<uint32_t>(regs, info.regs[1]),
        &lanes<uint32_t>(regs, info.regs[2]), &lanes<uint32_t>(regs, info.regs[3])};
    store_quads(rows, [&](int i) { return values[i]; });
  }
  for (int k = 0; k < V && V != 4; ++k) {
    const auto& from = V == 1 ? lanes<R>(regs, e->op.b) : lanes<R>(regs, info.regs[k]);
    for (int i = 0; i < kLanes; ++i) values[i][k] = M(from.v[i]);
  }
  uint32_t changed = 0;
  for (uint32_t left = bits; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    if (std::memcmp(host + s.offset.v[i], values[i], kBytes)) changed |= 1u << i;
  }
  if (Detect && s.region->tracked) {
    alignas(64) uint64_t address[kLanes];
    for (int i = 0; i < kLanes; ++i) address[i] = s.region->base + s.offset.v[i];
    ASSAY_LEAVE_VECTORS();
    w->machine->detector->access(kSpace<Shared>, w->machine->agent(*w), bits, address,
                                 plain(e, w, true, kBytes), values, kBytes, bits & ~changed);
  }
  w->stored |= changed != 0;
  auto write = [&](int i) {
    std::memcpy(host + s.offset.v[i], values[i], kBytes);
    if (s.region->init) init_set_small(s.region->init, s.offset.v[i], kBytes);
  };
  if (w->machine->store_descending)
    for (uint32_t left = bits; left;) {
      int i = 31 - __builtin_clz(left);
      left &= ~(1u << i);
      write(i);
    }
  else
    for (uint32_t left = bits; left; left &= left - 1) write(__builtin_ctz(left));
  return true;
}

// The lanes in which the operation's guard holds.
struct Guarded {
  Lanes<int32_t> active;
  uint32_t bits;
};
ASSAY_INLINE Guarded guarded_lanes(const Exec* e, const Warp* w, char* regs) {
  Guarded g;
  const auto& guard = lanes<int32_t>(regs, e->op.guard);
  int32_t flip = e->op.flags & ir::kGuardNegated ? -1 : 0;
  for (int i = 0; i < kLanes; ++i) g.active.v[i] = w->exec.v[i] & (guard.v[i] ^ flip);
  g.bits = predicate_bits(g.active);
  return g;
}

} // namespace assay::vgpu::ASSAY_LEVEL
