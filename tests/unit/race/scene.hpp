// Short words for what lanes do, so that a rule and its twin fit in a few lines each.
#pragma once

#include "race/detector.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>

namespace assay::race::test {

// One thread: CTA, warp, lane.
struct Lane {
  uint32_t cta = 0, warp = 0, lane = 0;
  Agent agent() const { return {cta, warp}; }
  uint32_t bit() const { return 1u << lane; }
  bool operator==(const Lane&) const = default;
};

inline constexpr uint64_t kData = uint64_t(1) << 40; // a tracked buffer
inline constexpr uint64_t kFlag = kData + 1024;

class Scene {
public:
  using Order = Detector::Order;
  using Fence = Detector::Fence;

  explicit Scene(uint32_t ctas = 2, uint32_t warps = 3, uint32_t lanes = 32, Limits limits = {})
      : warps_(warps), last_(lanes == 32 ? ~0u : (1u << lanes) - 1),
        d({ctas, warps, lanes}, limits) {
    d.track(kData, 1 << 16);
    for (uint32_t c = 0; c < ctas; ++c) d.cta_begin(c, 4096);
  }

  Scene& in(Space space) { return space_ = space, *this; }
  Scene& bytes(uint8_t n) { return bytes_ = n, *this; }
  Scene& elements(uint8_t n) { return elements_ = n, *this; }

  AccessInfo info(uint32_t pc, bool write) const {
    AccessInfo i;
    i.pc = pc;
    i.write = write;
    i.read = !write;
    i.bytes = bytes_;
    i.elements = elements_;
    return i;
  }
  void read(Lane l, uint64_t address, uint32_t pc) { one(l, address, info(pc, false), 0); }
  void write(Lane l, uint64_t address, uint32_t pc, bool silent = false) {
    one(l, address, info(pc, true), silent);
  }
  void nc_read(Lane l, uint64_t address, uint32_t pc) {
    AccessInfo i = info(pc, false);
    i.nc = true;
    one(l, address, i, 0);
  }
  void load(Lane l, uint64_t address, uint32_t pc, Order order, Scope scope) {
    one(l, address, strong(info(pc, false), scope), 0);
    d.strong_read(space_, l.agent(), l.lane, address, bytes_, order, scope);
  }
  void store(Lane l, uint64_t address, uint32_t pc, Order order, Scope scope) {
    one(l, address, strong(info(pc, true), scope), 0);
    d.strong_write(space_, l.agent(), l.lane, address, bytes_, order, scope);
  }
  void atomic(Lane l, uint64_t address, uint32_t pc, Order order, Scope scope,
              bool reduction = false) {
    AccessInfo i = strong(info(pc, true), scope);
    i.atomic = i.read = true;
    one(l, address, i, 0);
    d.read_modify_write(space_, l.agent(), l.lane, address, bytes_, order, scope, reduction);
  }
  void compare_and_swap(Lane l, uint64_t address, uint32_t pc, Scope scope, bool wrote,
                        Order order = Order::relaxed) {
    AccessInfo i = strong(info(pc, true), scope);
    i.atomic = i.read = true;
    one(l, address, i, 0);
    d.read_modify_write(space_, l.agent(), l.lane, address, bytes_, order, scope, false, wrote);
  }
  void fence(Lane l, Fence fence, Scope scope) { d.fence(l.agent(), l.bit(), fence, scope); }

  // A barrier of whole warps: those in `waiting` wait, those in `arriving` only arrive.
  void barrier(uint32_t cta, std::vector<uint32_t> waiting, std::vector<uint32_t> arriving = {}) {
    Detector::BarrierPhase p = phase(cta);
    for (uint32_t w : waiting) p.arrived[w] = p.acquiring[w] = all(w);
    for (uint32_t w : arriving) p.arrived[w] = all(w);
    d.barrier(p);
  }
  void barrier_all(uint32_t cta) {
    Detector::BarrierPhase p = phase(cta);
    for (uint32_t w = 0; w < warps_; ++w) p.arrived[w] = p.acquiring[w] = all(w);
    d.barrier(p);
  }
  Detector::BarrierPhase phase(uint32_t cta) const {
    std::vector<uint32_t> none(warps_);
    return {cta, none, none, none};
  }
  uint32_t all(uint32_t warp) const { return warp + 1 == warps_ ? last_ : ~0u; }

  // "race 1 2": the conflicts found, each once, sorted.
  std::string found() const {
    static const char* names[] = {"race", "value", "same", "order"};
    std::map<std::string, int> lines;
    for (const Conflict& c : d.conflicts()) {
      uint32_t a = c.first.info.pc, b = c.second.info.pc;
      lines[std::string(names[int(c.kind)]) + " " + std::to_string(std::min(a, b)) + " " +
            std::to_string(std::max(a, b))] = 1;
    }
    std::string s;
    for (auto& [line, n] : lines) s += (s.empty() ? "" : ", ") + line;
    return s;
  }

private:
  static AccessInfo strong(AccessInfo i, Scope scope) {
    i.strong = true;
    i.scope = scope;
    return i;
  }
  void one(Lane l, uint64_t address, const AccessInfo& i, bool silent) {
    std::array<uint64_t, 32> addresses{};
    std::array<std::array<uint64_t, 4>, 32> values{};
    addresses[l.lane] = address;
    d.access(space_, l.agent(), l.bit(), addresses.data(), i, values.data(), 32, silent ? ~0u : 0);
  }

  Space space_ = Space::global;
  uint8_t bytes_ = 4, elements_ = 1;
  uint32_t warps_, last_;

public:
  Detector d;
};

} // namespace assay::race::test
