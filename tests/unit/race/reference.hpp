// A second detector to judge the first by: full vector clocks for every lane and copy, every access
// to every byte kept, every pair looked at. Written from docs/concurrency.md §1 and §2 alone; it
// shares nothing with src/race but the vocabulary of access.hpp.
#pragma once

#include "race/detector.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace assay::race::test {

// (kind, lower pc, higher pc, space, distance): distance 0 warp, 1 CTA, 2 grid, 3 not compared.
using Key = std::tuple<int, uint32_t, uint32_t, int, int>;

inline Key key_of(Conflict::Kind kind, const AccessInfo& a, const AccessInfo& b, Space space,
                  const Agent& x, const Agent& y) {
  int distance = x.cta != y.cta ? 2 : x.warp != y.warp ? 1 : 0;
  if (a.nc || b.nc) distance = 3; // order plays no part there, so a later access may stand in
  return {int(kind), std::min(a.pc, b.pc), std::max(a.pc, b.pc), int(space), distance};
}

class Reference {
public:
  using Order = Detector::Order;
  using Fence = Detector::Fence;
  using Clock = std::vector<uint32_t>;

  explicit Reference(const LaunchShape& shape) : warps_(shape.warps_per_cta) {
    clocks_.assign(shape.ctas * warps_ * 32, Clock());
    for (auto& c : clocks_) c.assign(clocks_.size(), 0);
    lanes_.resize(clocks_.size());
  }

  void access(Space space, Agent agent, uint32_t lanes, const uint64_t* address, AccessInfo info,
              const uint32_t* values, uint32_t silent_lanes) {
    info.strong |= info.atomic;
    uint64_t changes = sequence_;
    if (info.write) ++sequence_;
    std::vector<std::pair<Location, Event>> events;
    for (uint32_t l = 0; l < 32; ++l) {
      if (!(lanes >> l & 1)) continue;
      info.silent = info.write && (silent_lanes >> l & 1);
      same_instruction(space, agent, lanes, l, address, info, values);
      Event e{of_lane(agent, l), l, id(agent, l), 0, info, address[l], sequence_};
      e.index = ++clocks_[e.who][e.who];
      const uint32_t elements = info.strong ? info.elements : 1;
      e.info.bytes = uint8_t(info.bytes / elements);
      for (uint32_t k = 0; k < elements; ++k, e.address += e.info.bytes)
        for (uint32_t b = 0; b < e.info.bytes; ++b)
          events.push_back({location(space, agent.cta, e.address + b), e});
    }
    for (auto& [at, e] : events)
      for (const Event& old : bytes_[at].events) judge(space, bytes_[at], old, e);
    (void)changes;
    for (auto& [at, e] : events) {
      bytes_[at].events.push_back(e);
      if (e.info.write && !e.info.silent) bytes_[at].last_change = e.sequence;
      if (e.info.write) overwritten(at, e);
    }
  }

  void barrier(const Detector::BarrierPhase& p) {
    Clock all(clocks_.size());
    for (uint32_t w = 0; w < warps_; ++w)
      for (uint32_t l = 0; l < 32; ++l)
        if ((p.arrived[w] | p.exited[w]) >> l & 1) raise(all, clocks_[id({p.cta, w}, l)]);
    for (uint32_t w = 0; w < warps_; ++w)
      for (uint32_t l = 0; l < 32; ++l)
        if (p.acquiring[w] >> l & 1) raise(clocks_[id({p.cta, w}, l)], all);
  }
  void warp_sync(Agent agent, uint32_t lanes) {
    Detector::BarrierPhase p{agent.cta, {}, {}, {}};
    p.arrived.resize(warps_);
    p.acquiring.resize(warps_);
    p.exited.resize(warps_);
    p.arrived[agent.warp] = p.acquiring[agent.warp] = lanes;
    barrier(p);
  }

  void strong_write(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                    Order order, Scope scope) {
    Variable& v = variables_[{location(space, agent.cta, address), bytes}];
    v.releases.clear();
    v.chain.clear();
    release(v, {location(space, agent.cta, address), bytes}, agent, lane, order, scope);
  }
  void strong_read(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                   Order order, Scope scope) {
    const Exactly at{location(space, agent.cta, address), bytes};
    acquire(variables_[at], at, agent, lane, order, scope);
  }
  void read_modify_write(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                         Order order, Scope scope, bool reduction) {
    const Exactly at{location(space, agent.cta, address), bytes};
    Variable& v = variables_[at];
    if (!reduction) acquire(v, at, agent, lane, order, scope);
    if (!mutual(v.cta, v.scope, agent.cta, scope)) v.releases.clear(), v.chain.clear();
    release(v, at, agent, lane, order, scope);
  }

  void fence(Agent agent, uint32_t lanes, Fence fence, Scope scope) {
    std::vector<Release> sc = sc_;
    for (uint32_t l = 0; l < 32; ++l) {
      if (!(lanes >> l & 1)) continue;
      uint32_t who = id(agent, l);
      if (fence != Fence::release)
        for (const auto& r : lanes_[who].read)
          if (mutual(r.second.cta, r.second.scope, agent.cta, scope))
            raise(clocks_[who], r.second.clock);
      if (fence == Fence::sc)
        for (const Release& r : sc)
          if (mutual(r.cta, r.scope, agent.cta, scope)) raise(clocks_[who], r.clock);
      if (fence == Fence::acquire) continue;
      lanes_[who].fences.push_back({agent.cta, scope, clocks_[who]});
      if (fence == Fence::sc) sc_.push_back({agent.cta, scope, clocks_[who]});
    }
  }

  void copy_issue(Agent issuer, uint32_t lane, uint32_t copy) {
    uint32_t who = uint32_t(clocks_.size());
    for (Clock& c : clocks_) c.push_back(0);
    clocks_.push_back(clocks_[id(issuer, lane)]);
    copies_[{issuer.cta, copy, lane}] = who;
  }
  void copy_joined(Agent waiter, uint32_t lane, uint32_t copy, uint32_t copy_lane) {
    raise(clocks_[id(waiter, lane)], clocks_[copies_.at({waiter.cta, copy, copy_lane})]);
  }

  const std::set<Key>& found() const { return found_; }

private:
  using Location = std::tuple<int, uint32_t, uint64_t>;
  struct Event {
    Agent agent;
    uint32_t lane, who, index;
    AccessInfo info;
    uint64_t address, sequence;
  };
  struct Byte {
    std::vector<Event> events;
    uint64_t last_change = 0;
  };
  using Exactly = std::pair<Location, uint32_t>; // with its size
  using Moment = std::pair<uint32_t, uint32_t>;  // agent, index
  struct Release {
    uint32_t cta;
    Scope scope;
    Clock clock;
  };
  struct Variable {
    uint32_t cta = 0;
    Scope scope = Scope::none;
    std::vector<Release> releases;
    std::vector<Moment> chain; // the writes that an observer observes
  };
  struct Lane {
    std::vector<Release> fences;
    std::vector<std::pair<Exactly, Release>> released, read; // by operations on a location
  };

  static Location location(Space space, uint32_t cta, uint64_t address) {
    return {int(space), space == Space::shared ? cta : 0, address};
  }
  uint32_t id(Agent a, uint32_t lane) const {
    return a.warp >= kCopyAgent ? copies_.at({a.cta, of_lane(a, lane).warp, lane})
                                : (a.cta * warps_ + a.warp) * 32 + lane;
  }
  // One agent of copies may stand for all lanes of their instruction.
  static Agent of_lane(Agent a, uint32_t lane) {
    if (a.warp >= kCopyAgent) a.warp = (a.warp & ~31u) + lane;
    return a;
  }
  static void raise(Clock& a, const Clock& b) {
    for (size_t i = 0; i < b.size(); ++i) a[i] = std::max(a[i], b[i]);
  }
  static bool mutual(uint32_t a, Scope sa, uint32_t b, Scope sb) {
    if (sa == Scope::none || sb == Scope::none) return false;
    return a == b || (sa >= Scope::gpu && sb >= Scope::gpu);
  }

  // A strong write: what a fence, or a release operation on that location, has begun before.
  void release(Variable& v, const Exactly& at, Agent agent, uint32_t lane, Order order,
               Scope scope) {
    uint32_t who = id(agent, lane);
    for (const Release& f : lanes_[who].fences) v.releases.push_back(f);
    if (order == Order::release || order == Order::acq_rel)
      lanes_[who].released.push_back({at, {agent.cta, scope, clocks_[who]}});
    for (const auto& [where, r] : lanes_[who].released)
      if (where == at) v.releases.push_back(r);
    v.chain.push_back({who, clocks_[who][who]});
    v.cta = agent.cta;
    v.scope = scope;
  }
  // A strong read, and an acquire operation behind all strong reads of that location.
  void acquire(const Variable& v, const Exactly& at, Agent agent, uint32_t lane, Order order,
               Scope scope) {
    uint32_t who = id(agent, lane);
    if (mutual(v.cta, v.scope, agent.cta, scope)) {
      for (const Moment& m : v.chain) observers_[m].push_back({who, clocks_[who][who]});
      for (const Release& r : v.releases) lanes_[who].read.push_back({at, r});
    }
    if (order != Order::acquire && order != Order::acq_rel) return;
    for (const auto& [where, r] : lanes_[who].read)
      if (where == at && mutual(r.cta, r.scope, agent.cta, scope)) raise(clocks_[who], r.clock);
  }
  // Weak writes, and strong ones of another size, end what could be acquired here.
  void overwritten(const Location& at, const Event& e) {
    auto [space, cta, address] = at;
    for (auto& [where, v] : variables_) {
      auto [s, c, a] = where.first;
      bool overlaps = s == space && c == cta && a <= address && address < a + where.second;
      bool exact = e.info.strong && a == e.address && where.second == e.info.bytes;
      if (overlaps && !exact) v = Variable{};
    }
  }

  void same_instruction(Space space, Agent agent, uint32_t lanes, uint32_t lane,
                        const uint64_t* address, const AccessInfo& info, const uint32_t* values) {
    for (uint32_t o = 0; o < lane && info.write; ++o) {
      if (!(lanes >> o & 1) || address[o] != address[lane]) continue;
      auto kind = info.strong                 ? Conflict::Kind::order
                  : values[o] != values[lane] ? Conflict::Kind::same_instruction
                                              : Conflict::Kind::value_race;
      found_.insert(key_of(kind, info, info, space, of_lane(agent, o), of_lane(agent, lane)));
    }
  }

  void judge(Space space, const Byte& byte, const Event& a, const Event& b) {
    if (!a.info.write && !b.info.write) return;
    bool nc = a.info.nc || b.info.nc;
    if (!nc && clocks_[b.who][a.who] >= a.index) return;
    auto kind = Conflict::Kind::race;
    bool strong = a.info.strong && b.info.strong && a.address == b.address &&
                  a.info.bytes == b.info.bytes &&
                  mutual(a.agent.cta, a.info.scope, b.agent.cta, b.info.scope);
    if (!nc && a.info.write && a.info.strong && !strong && observed(a, b)) return;
    bool a_changes = a.info.write && !a.info.silent, b_changes = b.info.write && !b.info.silent;
    bool unchanged = !b_changes && byte.last_change <= a.sequence;
    bool seen = a_changes && (a.info.read || b.info.read);
    if (!nc && strong)
      kind = Conflict::Kind::order;
    else if (!nc && unchanged && !seen)
      kind = Conflict::Kind::value_race;
    found_.insert(key_of(kind, a.info, b.info, space, a.agent, b.agent));
  }

  bool observed(const Event& a, const Event& b) const {
    auto it = observers_.find({a.who, a.index});
    if (it == observers_.end()) return false;
    return std::any_of(it->second.begin(), it->second.end(),
                       [&](const Moment& z) { return clocks_[b.who][z.first] >= z.second; });
  }

  uint32_t warps_;
  std::vector<Clock> clocks_; // by lane, then by copy
  std::vector<Lane> lanes_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> copies_;
  std::map<Location, Byte> bytes_;
  std::map<Exactly, Variable> variables_;
  std::vector<Release> sc_;
  std::map<Moment, std::vector<Moment>> observers_;
  uint64_t sequence_ = 1;
  std::set<Key> found_;
};

} // namespace assay::race::test
