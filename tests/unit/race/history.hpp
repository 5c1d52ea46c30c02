// Random histories of accesses and synchronisation, run through the detector and the reference.
// A history that tells them apart is shrunk to the fewest operations that still do, and printed.
#pragma once

#include "reference.hpp"

#include "base/random.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <string>

namespace assay::race::test {

struct Operation {
  enum class Kind : uint8_t {
    affine,
    broadcast,
    access,
    barrier,
    warp_sync,
    strong_read,
    strong_write,
    rmw,
    fence,
    exit,
    copy_issue,
    copy_access,
    copy_join,
    cta_end,
  };
  Kind kind = Kind::affine;
  Space space = Space::global;
  Agent agent;
  uint32_t lanes = 0, lane = 0, silent = 0, copy = 0;
  AccessInfo info;
  std::array<uint64_t, 32> address{};
  std::array<uint32_t, 32> values{};
  std::vector<uint32_t> arrived, acquiring, exited;
  Detector::Order order = Detector::Order::relaxed;
  Detector::Fence fence = Detector::Fence::acq_rel;
  bool reduction = false;

  // Where lane 0 would read if all lanes did as those of a row part do.
  uint64_t row_base() const {
    uint32_t first = uint32_t(std::countr_zero(lanes));
    return address[first] - first * info.bytes;
  }
  // Neighbouring lanes that read neighbouring locations, weakly.
  bool is_row_part() const {
    if (info.write || info.strong || info.nc || !lanes) return false;
    uint32_t first = uint32_t(std::countr_zero(lanes)),
             last = 31 - uint32_t(std::countl_zero(lanes));
    if (first == last || uint32_t(std::popcount(lanes)) != last - first + 1) return false;
    for (uint32_t l = first; l <= last; ++l)
      if (address[l] != row_base() + l * info.bytes) return false;
    return true;
  }

  std::string text() const {
    static const char* names[] = {
        "affine", "broadcast", "access", "barrier",    "warp_sync",   "strong_read", "strong_write",
        "rmw",    "fence",     "exit",   "copy_issue", "copy_access", "copy_join",   "cta_end"};
    std::string s =
        fmt::format("{} cta {} warp {} lanes {:#x} lane {} space {} pc {} {}{}{}{}{} "
                    "bytes {} / {} scope {} silent {:#x} "
                    "order {} fence {} copy {} at",
                    names[int(kind)], agent.cta, agent.warp, lanes, lane, int(space), info.pc,
                    info.read ? "r" : "", info.write ? "w" : "", info.atomic ? "a" : "",
                    info.strong ? "s" : "", info.nc ? "n" : "", info.bytes, info.elements,
                    int(info.scope), silent, int(order), int(fence), copy);
    for (uint32_t l = 0; l < 32; ++l)
      if (kind != Kind::affine ? lanes >> l & 1 : l == 0)
        s += fmt::format(" {}:{}={}", l, address[l] & 0xffffffff, values[l]);
    for (auto& v : {arrived, acquiring, exited})
      if (!v.empty()) s += fmt::format(" [{:#x}]", fmt::join(v, " "));
    return s;
  }
};

inline constexpr uint64_t kBase = (uint64_t(1) << 40) + 64;
inline constexpr uint32_t kGlobalBytes = 640, kSharedBytes = 512;

struct History {
  LaunchShape shape;
  std::vector<Operation> operations;

  std::set<Key> by_detector() const;
  std::set<Key> by_reference() const;
  std::string text() const {
    std::string s;
    for (const Operation& o : operations) s += o.text() + "\n";
    return s;
  }
};

inline std::set<Key> History::by_detector() const {
  using K = Operation::Kind;
  Detector d(shape, Limits{});
  std::array<std::array<uint32_t, 8>, 32> values;
  d.track(kBase, kGlobalBytes);
  for (uint32_t c = 0; c < shape.ctas; ++c) d.cta_begin(c, kSharedBytes);
  for (const Operation& o : operations) {
    AccessInfo info = o.info;
    info.silent = o.silent != 0;
    Agent copy{o.agent.cta, o.copy};
    for (uint32_t l = 0; l < 32; ++l) values[l].fill(o.values[l]);
    d.elements(info.elements);
    switch (o.kind) {
    case K::affine:
      d.affine(o.space, o.agent, o.address[0], info.pc,
               weak_attributes(info.write, info.silent, info.bytes));
      break;
    case K::broadcast:
      d.broadcast(o.space, o.agent, o.lanes, o.address[std::countr_zero(o.lanes)], info.pc,
                  weak_attributes(false, false, info.bytes));
      break;
    case K::access:
      if (o.is_row_part())
        d.row_part(o.space, o.agent, o.lanes, o.row_base(), info.pc,
                   weak_attributes(false, false, info.bytes));
      else
        d.access(o.space, o.agent, o.lanes, o.address.data(), info, values.data(), 32, o.silent);
      break;
    case K::copy_access:
      d.access(o.space, copy, o.lanes, o.address.data(), info, values.data(), 32, o.silent);
      break;
    case K::barrier: d.barrier({o.agent.cta, o.arrived, o.acquiring, o.exited}); break;
    case K::warp_sync: d.warp_sync(o.agent, o.lanes); break;
    case K::strong_read:
      d.strong_read(o.space, o.agent, o.lane, o.address[o.lane], info.bytes, o.order, info.scope);
      break;
    case K::strong_write:
      d.strong_write(o.space, o.agent, o.lane, o.address[o.lane], info.bytes, o.order, info.scope);
      break;
    case K::rmw:
      d.read_modify_write(o.space, o.agent, o.lane, o.address[o.lane], info.bytes, o.order,
                          info.scope, o.reduction);
      break;
    case K::fence: d.fence(o.agent, o.lanes, o.fence, info.scope); break;
    case K::exit: d.exited(o.agent, o.lanes); break;
    case K::copy_issue: d.copy_issue(o.agent, o.lane, o.copy); break;
    case K::copy_join: d.copy_joined(o.agent, o.lane, o.copy); break;
    case K::cta_end: d.cta_end(o.agent.cta); break;
    }
  }
  std::set<Key> found;
  for (const Conflict& c : d.conflicts())
    found.insert(
        key_of(c.kind, c.first.info, c.second.info, c.space, c.first.agent, c.second.agent));
  return found;
}

inline std::set<Key> History::by_reference() const {
  using K = Operation::Kind;
  Reference d(shape);
  for (const Operation& o : operations) {
    Agent copy{o.agent.cta, o.copy};
    std::array<uint64_t, 32> address = o.address;
    switch (o.kind) {
    case K::affine:
      for (uint32_t l = 0; l < 32; ++l) address[l] = o.address[0] + l * o.info.bytes;
      d.access(o.space, o.agent, ~0u, address.data(), o.info, o.values.data(), o.silent ? ~0u : 0);
      break;
    case K::broadcast:
    case K::access:
      d.access(o.space, o.agent, o.lanes, o.address.data(), o.info, o.values.data(), o.silent);
      break;
    case K::copy_access:
      d.access(o.space, copy, o.lanes, o.address.data(), o.info, o.values.data(), o.silent);
      break;
    case K::barrier: d.barrier({o.agent.cta, o.arrived, o.acquiring, o.exited}); break;
    case K::warp_sync: d.warp_sync(o.agent, o.lanes); break;
    case K::strong_read:
    case K::strong_write:
    case K::rmw:
      for (uint32_t k = 0; k < o.info.elements; ++k) {
        const uint8_t bytes = o.info.element_bytes();
        const uint64_t at = o.address[o.lane] + k * bytes;
        if (o.kind == K::strong_read)
          d.strong_read(o.space, o.agent, o.lane, at, bytes, o.order, o.info.scope);
        else if (o.kind == K::strong_write)
          d.strong_write(o.space, o.agent, o.lane, at, bytes, o.order, o.info.scope);
        else
          d.read_modify_write(o.space, o.agent, o.lane, at, bytes, o.order, o.info.scope,
                              o.reduction);
      }
      break;
    case K::fence: d.fence(o.agent, o.lanes, o.fence, o.info.scope); break;
    case K::exit:
    case K::cta_end: break;
    case K::copy_issue: d.copy_issue(o.agent, o.lane, o.copy); break;
    case K::copy_join: d.copy_joined(o.agent, o.lane, o.copy, o.copy % 32); break;
    }
  }
  return d.found();
}

// Makes a history: a launch, a few instructions with fixed attributes, and what agents do.
class Generator {
public:
  explicit Generator(uint64_t seed) : random_(seed) {}
  History make(uint32_t steps);

private:
  struct Instruction {
    Operation::Kind kind;
    Space space;
    AccessInfo info;
    Detector::Order order;
    bool reduction;
  };
  struct Copy {
    uint32_t cta, warp, number, lanes, running;
  };
  uint32_t below(uint32_t n) { return random_.below(n); }
  bool chance(uint32_t percent) { return below(100) < percent; }
  template <class T> T pick(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

  uint32_t full(uint32_t warp) const {
    return warp + 1 == h_.shape.warps_per_cta ? ~0u >> (32 - h_.shape.lanes_of_last_warp) : ~0u;
  }
  uint32_t live(Agent a) const { return full(a.warp) & ~exited_[a.cta][a.warp]; }
  uint32_t some_lanes(uint32_t of);
  Instruction instruction(uint32_t pc);
  uint64_t address(Space space, uint32_t bytes, uint32_t extent);
  void step();
  void act(const Instruction& in, Agent agent);
  void strong(const Instruction& in, const Operation& o);
  void barrier(Agent agent);
  void copies(Agent agent);
  void exit(Agent agent);
  void end(uint32_t cta);

  Random random_;
  History h_;
  std::vector<Instruction> code_;
  std::vector<std::vector<uint32_t>> exited_;
  std::vector<Copy> copies_;
  enum class Flavour : uint8_t { mixed, copies, messages };
  Flavour flavour_ = Flavour::mixed;
  uint32_t spread_ = 1, barriers_ = 0, silent_ = 0;
};

inline uint32_t Generator::some_lanes(uint32_t of) {
  uint32_t m = chance(30)   ? of
               : chance(50) ? 1u << below(32)
               : chance(50) ? 3u << below(31)
                            : uint32_t(random_.next());
  return m & of ? m & of : of & (0u - of);
}

inline Generator::Instruction Generator::instruction(uint32_t pc) {
  using K = Operation::Kind;
  Instruction in{};
  in.space = chance(50) ? Space::global : Space::shared;
  in.kind = pick({K::affine, K::affine, K::broadcast, K::access, K::access});
  if (flavour_ == Flavour::messages && chance(70)) in.kind = K::access;
  in.info.pc = pc;
  in.info.bytes = pick<uint8_t>({1, 2, 4, 4, 4, 4, 8, 16});
  in.info.write = in.kind != K::broadcast && chance(50);
  in.info.read = !in.info.write;
  if (in.kind == K::access && chance(flavour_ == Flavour::messages ? 80 : 50)) {
    in.info.strong = true;
    in.info.scope = pick({Scope::cta, Scope::gpu, Scope::gpu, Scope::sys});
    in.info.bytes = pick<uint8_t>({4, 4, 4, 8});
    if (chance(25)) {
      in.info.bytes = pick<uint8_t>({8, 16});
      in.info.elements = in.info.bytes == 8 ? 2 : pick<uint8_t>({2, 4});
    }
    in.info.atomic = chance(40);
    if (in.info.atomic) in.info.write = in.info.read = true;
    in.reduction = in.info.atomic && chance(30);
    in.order = in.info.atomic || chance(30)
                   ? pick({Detector::Order::relaxed, Detector::Order::acq_rel})
                   : Detector::Order::relaxed;
    if (chance(50) && !in.info.atomic)
      in.order = in.info.write ? Detector::Order::release : Detector::Order::acquire;
  } else if (in.kind == K::access && in.space == Space::global && !in.info.write && chance(25)) {
    in.info.nc = true; // the short ways know no such loads
  }
  return in;
}

inline uint64_t Generator::address(Space space, uint32_t bytes, uint32_t extent) {
  uint32_t total = space == Space::global ? kGlobalBytes : kSharedBytes;
  uint32_t range = std::min(total - extent, spread_ * 16);
  uint64_t offset = below(range / bytes + 1) * bytes;
  return (space == Space::global ? kBase : 0) + offset;
}

inline void Generator::strong(const Instruction& in, const Operation& o) {
  using K = Operation::Kind;
  for (uint32_t l = 0; l < 32; ++l) {
    if (!(o.lanes >> l & 1)) continue;
    Operation s = o;
    s.kind = in.info.atomic ? K::rmw : in.info.write ? K::strong_write : K::strong_read;
    s.lane = l;
    s.order = in.order;
    s.reduction = in.reduction;
    h_.operations.push_back(s);
  }
}

inline void Generator::act(const Instruction& in, Agent agent) {
  using K = Operation::Kind;
  Operation o;
  o.kind = in.kind;
  o.space = in.space;
  o.agent = agent;
  o.info = in.info;
  bool whole = live(agent) == ~0u;
  if (o.kind == K::affine && !whole) o.kind = K::access;
  o.lanes = o.kind == K::affine ? ~0u : some_lanes(live(agent));
  for (uint32_t& v : o.values) v = below(2);
  if (in.info.write && chance(silent_))
    o.silent = o.kind == K::affine ? 1 : uint32_t(random_.next());
  uint64_t one = address(in.space, in.info.bytes, in.info.bytes * (o.kind == K::affine ? 32 : 1));
  bool same = o.kind != K::access || chance(30), shifted = chance(30);
  for (uint32_t l = 0; l < 32; ++l)
    o.address[l] = same ? one : address(in.space, in.info.bytes, in.info.bytes);
  uint64_t row = address(in.space, in.info.bytes, in.info.bytes * 32);
  if (o.kind == K::access && shifted)
    for (uint32_t l = 0; l < 32; ++l) o.address[l] = row + l * in.info.bytes;
  if (o.kind == K::access && chance(15)) // halves of a warp in one half row
    for (uint32_t l = 0; l < 32; ++l) o.address[l] = row + l % 16 * in.info.bytes;
  h_.operations.push_back(o);
  if (in.info.strong) strong(in, o);
}

inline void Generator::barrier(Agent agent) {
  Operation o;
  o.kind = Operation::Kind::barrier;
  o.agent = agent;
  bool full_cta = chance(50), count_exited = full_cta || chance(50);
  uint32_t arriving = 0;
  for (uint32_t w = 0; w < h_.shape.warps_per_cta; ++w) {
    uint32_t l = live({agent.cta, w}), gone = exited_[agent.cta][w];
    bool in = full_cta || w == agent.warp || chance(50);
    if (!full_cta && chance(20)) l &= uint32_t(random_.next());
    bool only_arrives = !full_cta && chance(25);
    o.arrived.push_back(in ? l : 0);
    o.acquiring.push_back(in && !only_arrives ? l : 0);
    o.exited.push_back(count_exited ? gone : 0);
    arriving |= o.arrived.back();
  }
  if (arriving) h_.operations.push_back(o);
}

inline void Generator::copies(Agent agent) {
  using K = Operation::Kind;
  Operation o;
  o.agent = agent;
  if (copies_.size() < 4 && chance(50)) {
    uint32_t lanes = some_lanes(live(agent));
    uint32_t number = kCopyAgent + uint32_t(copies_.size()) * 32;
    for (o.lane = 0; o.lane < 32; ++o.lane) {
      if (!(lanes >> o.lane & 1)) continue;
      o.kind = K::copy_issue;
      o.copy = number + o.lane;
      h_.operations.push_back(o);
    }
    copies_.push_back({agent.cta, agent.warp, number, lanes, lanes});
    return;
  }
  if (copies_.empty()) return;
  Copy& c = copies_[below(uint32_t(copies_.size()))];
  if (exited_[c.cta][c.warp]) return;
  o.agent = {c.cta, c.warp};
  if (chance(30)) { // it has finished: no more accesses, perhaps more who wait for it
    o.kind = K::copy_join;
    if (chance(30)) o.agent.warp = below(h_.shape.warps_per_cta);
    uint32_t waiting = live(o.agent), joined = some_lanes(c.lanes);
    for (uint32_t l = 0; l < 32 && waiting; ++l) {
      if (!(joined >> l & 1)) continue;
      o.lane = chance(70) && (waiting >> l & 1) ? l : uint32_t(std::countr_zero(waiting));
      o.copy = c.number + l;
      h_.operations.push_back(o);
      c.running &= ~(1u << l);
    }
    return;
  }
  const Instruction& in = code_[below(uint32_t(code_.size()))];
  if (in.info.strong || !c.running) return;
  o.kind = K::copy_access;
  o.space = in.space;
  o.info = in.info;
  o.copy = c.number;
  o.lanes = some_lanes(c.running);
  if (std::has_single_bit(o.lanes)) o.copy += uint32_t(std::countr_zero(o.lanes));
  o.silent = in.info.write && chance(silent_) ? uint32_t(random_.next()) : 0;
  uint64_t row = address(in.space, in.info.bytes, in.info.bytes * 32);
  bool together = chance(60);
  for (uint32_t l = 0; l < 32; ++l)
    o.address[l] =
        together ? row + l * in.info.bytes : address(in.space, in.info.bytes, in.info.bytes);
  h_.operations.push_back(o);
}

inline void Generator::exit(Agent agent) {
  Operation o;
  o.kind = Operation::Kind::exit;
  o.agent = agent;
  o.lanes = some_lanes(live(agent));
  exited_[agent.cta][agent.warp] |= o.lanes;
  h_.operations.push_back(o);
}

// All lanes of the CTA exit, and it gives back its shared memory.
inline void Generator::end(uint32_t cta) {
  Operation o;
  for (uint32_t w = 0; w < h_.shape.warps_per_cta; ++w) {
    o.kind = Operation::Kind::exit;
    o.agent = {cta, w};
    o.lanes = live(o.agent);
    exited_[cta][w] = full(w);
    if (o.lanes) h_.operations.push_back(o);
  }
  o.kind = Operation::Kind::cta_end;
  h_.operations.push_back(o);
}

inline void Generator::step() {
  using K = Operation::Kind;
  Agent agent{below(h_.shape.ctas), below(h_.shape.warps_per_cta)};
  if (!live(agent)) return;
  uint32_t roll = below(100);
  if (flavour_ == Flavour::copies && chance(40)) return copies(agent);
  if (flavour_ == Flavour::messages && chance(20)) roll = 85;
  if (roll < 60) return act(code_[below(uint32_t(code_.size()))], agent);
  if (roll < 60 + barriers_) return barrier(agent);
  if (roll < 84) {
    Operation o;
    o.agent = agent;
    o.kind = K::warp_sync;
    o.lanes = chance(60) ? live(agent) : some_lanes(live(agent));
    h_.operations.push_back(o);
  } else if (roll < 92) {
    Operation o;
    o.kind = K::fence;
    o.agent = agent;
    o.lanes = some_lanes(live(agent));
    o.info.scope = pick({Scope::cta, Scope::gpu});
    o.fence = pick({Detector::Fence::acquire, Detector::Fence::release, Detector::Fence::acq_rel,
                    Detector::Fence::acq_rel, Detector::Fence::sc});
    h_.operations.push_back(o);
  } else if (roll < 97) {
    copies(agent);
  } else if (chance(60)) {
    exit(agent);
  } else if (h_.shape.ctas > 1) {
    end(agent.cta);
  }
}

inline History Generator::make(uint32_t steps) {
  h_.shape = {1 + below(4), 1 + below(3), chance(70) ? 32 : 1 + below(32)};
  exited_.assign(h_.shape.ctas, std::vector<uint32_t>(h_.shape.warps_per_cta));
  spread_ = pick({1u, 2u, 4u, 16u, 40u});
  barriers_ = pick({4u, 12u, 20u});
  flavour_ = pick({Flavour::mixed, Flavour::mixed, Flavour::copies, Flavour::messages});
  silent_ = pick({0u, 30u, 80u});
  uint32_t instructions = 2 + below(7);
  for (uint32_t i = 0; i < instructions; ++i) code_.push_back(instruction(i + 1));
  for (uint32_t i = 0; i < steps; ++i) step();
  return h_;
}

// Leaves out operations one after the other as long as `fails` holds.
inline History shrink(History h, const std::function<bool(const History&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = h.operations.size(); i-- > 0;) {
      auto kind = h.operations[i].kind;
      if (kind == Operation::Kind::copy_issue || kind == Operation::Kind::exit) continue;
      History without = h;
      without.operations.erase(without.operations.begin() + ptrdiff_t(i));
      if (fails(without)) h = std::move(without), smaller = true;
    }
  }
  return h;
}

} // namespace assay::race::test
