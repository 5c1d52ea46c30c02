// Loads and stores of the common kinds: whole warp, consecutive or equal addresses, one region.
// Everything else goes to Machine::load and Machine::store. Included by core.cpp once per level.
#pragma once

#include "vgpu/handlers/control.hpp"

namespace assay::vgpu::ASSAY_LEVEL {

// Addresses a[i] = a[0] + stride·i in all 32 lanes.
template <int Stride, class A> ASSAY_INLINE bool affine(const Lanes<A>& a) {
  A base = a.v[0], bad = 0;
  for (int i = 0; i < kLanes; ++i) bad |= a.v[i] - base - A(Stride * i);
  return bad == 0;
}
// Both halves of the warp consecutive or both constant: a[16h + j] = a[16h] + stride·j.
template <int Stride> ASSAY_INLINE bool halves(const Lanes<uint32_t>& a) {
  uint32_t low = a.v[0], high = a.v[16], bad = 0;
  for (int i = 0; i < 16; ++i)
    bad |= (a.v[i] - low - uint32_t(Stride * i)) | (a.v[16 + i] - high - uint32_t(Stride * i));
  return bad == 0;
}

ASSAY_INLINE race::AccessInfo plain(const Exec* e, const Warp* w, bool write, uint32_t bytes) {
  race::AccessInfo info;
  info.pc = pc_of(e, w);
  info.write = write;
  info.read = !write;
  info.bytes = uint8_t(bytes);
  return info;
}

// A range of a region that is inside, aligned and (for reads) initialised.
ASSAY_INLINE bool readable(const Region& r, uint64_t offset, uint64_t bytes, uint64_t align) {
  return r.size >= bytes && offset <= r.size - bytes && !(offset & (align - 1)) &&
         (!r.init || init_test(r.init, offset, bytes));
}
ASSAY_INLINE bool writable(const Region& r, uint64_t offset, uint64_t bytes, uint64_t align) {
  return r.size >= bytes && offset <= r.size - bytes && !(offset & (align - 1)) && !r.read_only &&
         !r.retrack_on_store;
}

template <bool Shared> ASSAY_INLINE Region* region_of(Warp* w, uint64_t address) {
  return Shared ? &w->cta->shared : w->machine->memory.find(address);
}
template <bool Shared>
constexpr race::Space kSpace = Shared ? race::Space::shared : race::Space::global;

// Spreads `V` interleaved elements a lane over V registers: element types M in memory, R in lanes.
template <class M, class R, int V>
ASSAY_INLINE void spread(const uint8_t* from, const ir::MemInfo& info, char* regs, uint32_t keep) {
  for (int k = 0; k < V; ++k) {
    if (info.regs[k] == ir::kNoSlot) continue;
    auto& d = lanes<R>(regs, info.regs[k]);
    if constexpr (V == 1 && sizeof(M) == sizeof(R)) {
      std::memcpy(d.v, from, sizeof d.v);
    } else {
      M values[kLanes * V];
      std::memcpy(values, from, sizeof values);
      for (int i = 0; i < kLanes; ++i) d.v[i] = R(values[i * V + k]) & R(int64_t(int32_t(keep)));
    }
  }
}

template <class M, class R, int V, bool Shared, bool Full, bool Detect>
const Exec* load(const Exec* e, Warp* w, char* regs) {
  const ir::MemInfo& info = w->program->mem[e->op.c];
  constexpr int kBytes = int(sizeof(M)) * V;
  using A = std::conditional_t<Shared, uint32_t, uint64_t>;
  if (Full && w->exec_bits == kAllLanes) {
    const auto& a = lanes<A>(regs, e->op.a);
    uint64_t address = uint64_t(a.v[0]) + e->op.imm;
    if (Shared) address = uint32_t(address);
    if (affine<kBytes>(a)) {
      Region* r = region_of<Shared>(w, address);
      uint64_t offset = r ? address - r->base : 0;
      if (r && readable(*r, offset, kBytes * 32, kBytes)) {
        spread<M, R, V>(r->host + offset, info, regs, info.register_bits == 16 ? 0xffffu : ~0u);
        if (Detect) {
          if (r->tracked)
            w->machine->detector->affine(kSpace<Shared>, w->machine->agent(*w), address,
                                         plain(e, w, false, kBytes));
          if (w->machine->hash_path) [[unlikely]]
            w->machine->path(address);
        }
        ASSAY_NEXT(e, w, regs);
      }
    } else if (V == 1 && affine<0>(a)) {
      Region* r = region_of<Shared>(w, address);
      uint64_t offset = r ? address - r->base : 0;
      if (r && readable(*r, offset, kBytes, kBytes)) {
        M value;
        std::memcpy(&value, r->host + offset, sizeof value);
        R wide = R(value) & R(int64_t(int32_t(info.register_bits == 16 ? 0xffffu : ~0u)));
        auto& d = lanes<R>(regs, info.regs[0]);
        for (int i = 0; i < kLanes; ++i) d.v[i] = wide;
        if (Detect) {
          if (r->tracked)
            w->machine->detector->broadcast(kSpace<Shared>, w->machine->agent(*w), kAllLanes,
                                            address, plain(e, w, false, kBytes));
          if (w->machine->hash_path) [[unlikely]]
            w->machine->path(address);
        }
        ASSAY_NEXT(e, w, regs);
      }
    } else if constexpr (V == 1 && sizeof(M) == 4) {
      // One region, every lane inside, aligned and initialised: a plain gather.
      Region* r = region_of<Shared>(w, address);
      if (r && !r->init && r->size >= 4) {
        uint64_t base = r->base - e->op.imm, last = r->size - 4, bad = 0;
        const uint8_t* host = r->host;
        for (int i = 0; i < kLanes; ++i) {
          uint64_t o = Shared ? uint64_t(uint32_t(a.v[i] + e->op.imm)) : a.v[i] - base;
          bad |= uint64_t(o > last) | (o & 3);
        }
        if (!bad && !(Detect && (r->tracked || w->machine->hash_path))) {
          auto& d = lanes<R>(regs, info.regs[0]);
          for (int i = 0; i < kLanes; ++i) {
            uint64_t o = Shared ? uint64_t(uint32_t(a.v[i] + e->op.imm)) : a.v[i] - base;
            std::memcpy(&d.v[i], host + o, 4);
          }
          ASSAY_NEXT(e, w, regs);
        }
      } else if constexpr (Shared) {
        if (r && (halves<4>(a) || halves<0>(a))) {
          uint32_t low = uint32_t(address), high = uint32_t(a.v[16] + e->op.imm);
          uint32_t n = a.v[1] == a.v[0] ? 4 : 64; // bytes of one half
          if (readable(*r, low, n, 4) && readable(*r, high, n, 4)) {
            auto& d = lanes<R>(regs, info.regs[0]);
            if (n == 64) {
              std::memcpy(d.v, r->host + low, 64);
              std::memcpy(d.v + 16, r->host + high, 64);
            } else {
              uint32_t x, y;
              std::memcpy(&x, r->host + low, 4);
              std::memcpy(&y, r->host + high, 4);
              for (int i = 0; i < 16; ++i) d.v[i] = x, d.v[16 + i] = y;
            }
            if (Detect && r->tracked) {
              if (n == 4) {
                auto info = plain(e, w, false, 4);
                w->machine->detector->broadcast(race::Space::shared, w->machine->agent(*w), 0xffffu,
                                                low, info);
                w->machine->detector->broadcast(race::Space::shared, w->machine->agent(*w),
                                                0xffff0000u, high, info);
              } else {
                uint64_t addresses[kLanes];
                for (int i = 0; i < kLanes; ++i) addresses[i] = uint32_t(a.v[i] + e->op.imm);
                w->machine->detector->access(race::Space::shared, w->machine->agent(*w), kAllLanes,
                                             addresses, plain(e, w, false, 4), nullptr, 0, 0);
              }
            }
            ASSAY_NEXT(e, w, regs);
          }
        }
      }
    }
  }
  w->machine->load(*w, pc_of(e, w), e->op, regs, w->exec_bits);
  if (w->machine->abort) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}

template <class M, class R, int V, bool Shared, bool Full, bool Detect>
const Exec* store(const Exec* e, Warp* w, char* regs) {
  const ir::MemInfo& info = w->program->mem[e->op.c];
  constexpr int kBytes = int(sizeof(M)) * V;
  using A = std::conditional_t<Shared, uint32_t, uint64_t>;
  w->stored = true;
  if (Full && w->exec_bits == kAllLanes) {
    const auto& a = lanes<A>(regs, e->op.a);
    uint64_t address = uint64_t(a.v[0]) + e->op.imm;
    if (Shared) address = uint32_t(address);
    if (affine<kBytes>(a)) {
      Region* r = region_of<Shared>(w, address);
      uint64_t offset = r ? address - r->base : 0;
      if (r && writable(*r, offset, kBytes * 32, kBytes)) {
        uint8_t* to = r->host + offset;
        M values[kLanes * V];
        for (int k = 0; k < V; ++k) {
          const auto& s = lanes<R>(regs, info.regs[k]);
          for (int i = 0; i < kLanes; ++i) values[i * V + k] = M(s.v[i]);
        }
        if (Detect) {
          if (r->tracked) {
            auto access = plain(e, w, true, kBytes);
            access.silent = std::memcmp(to, values, sizeof values) == 0;
            w->machine->detector->affine(kSpace<Shared>, w->machine->agent(*w), address, access);
          }
          if (w->machine->hash_path) [[unlikely]]
            w->machine->path(address);
        }
        std::memcpy(to, values, sizeof values);
        if (r->init) init_set(r->init, offset, sizeof values);
        ASSAY_NEXT(e, w, regs);
      }
    }
  }
  w->machine->store(*w, pc_of(e, w), e->op, regs, w->exec_bits);
  if (w->machine->abort) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}

// Kernel parameters at a fixed offset: the same for all lanes.
template <class R> ASSAY_INLINE void fill(char* regs, ir::Slot d, const Warp* w, uint64_t value) {
  auto& to = lanes<R>(regs, d);
  for (int i = 0; i < kLanes; ++i) to.v[i] = w->exec.v[i] ? R(value) : to.v[i];
}
template <class R, bool Full> const Exec* load_parameter(const Exec* e, Warp* w, char* regs) {
  const ir::MemInfo& info = w->program->mem[e->op.c];
  const auto& block = w->machine->parameters;
  if (e->op.imm + info.bytes * info.vector <= block.size()) {
    for (int k = 0; k < info.vector; ++k) {
      if (info.regs[k] == ir::kNoSlot) continue;
      R value;
      std::memcpy(&value, block.data() + e->op.imm + k * info.bytes, sizeof value);
      fill<R>(regs, info.regs[k], w, value);
    }
    ASSAY_NEXT(e, w, regs);
  }
  w->machine->load(*w, pc_of(e, w), e->op, regs, w->exec_bits);
  if (w->machine->abort) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}

// The general forms; Point: a strong access, which is a scheduling point.
template <bool Point> const Exec* load_any(const Exec* e, Warp* w, char* regs) {
  if (Point) {
    ASSAY_POINT(e, w);
  }
  w->machine->load(*w, pc_of(e, w), e->op, regs, w->exec_bits);
  if (w->machine->abort) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}
template <bool Point> const Exec* store_any(const Exec* e, Warp* w, char* regs) {
  if (Point) {
    ASSAY_POINT(e, w);
  }
  w->machine->store(*w, pc_of(e, w), e->op, regs, w->exec_bits);
  if (w->machine->abort) return stop(w, e, Stop::aborted);
  ASSAY_NEXT(e, w, regs);
}

} // namespace assay::vgpu::ASSAY_LEVEL
