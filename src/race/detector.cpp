// The detector's front: turns accesses into records by row, judges them against the shadow, then
// keeps them; passes causality on. See detector.hpp.
#include "race/detector.hpp"

#include "base/check.hpp"
#include "race/address_groups.hpp"
#include "race/causality.hpp"
#include "race/conflicts.hpp"
#include "race/judge.hpp"
#include "race/shadow_quick.hpp"

#include <cstring>

namespace assay::race {

struct Detector::State {
  State(const LaunchShape& shape, const Limits& limits)
      : causality(shape), conflicts(shape.ctas - 1, limits.conflicts), judge(causality, conflicts),
        shadow(causality, shape.ctas, limits.shadow_bytes) {}

  struct Target {
    Place place;
    Access access;
  };

  bool split(Space space, Agent agent, uint32_t lanes, const AccessInfo& info, uint16_t attributes);
  void prepare(Space space, Agent agent);
  // For everything that may raise a clock or end a CTA.
  Causality& changing() {
    prepared = {UINT32_MAX, UINT32_MAX};
    return causality;
  }
  template <class Visit> void rows(Access& access, uint64_t address, Visit visit);
  void now(Access& access, uint64_t address);
  void later(Access& access, uint64_t address);
  void finish();
  void overwritten(const Access& access, uint64_t from, uint64_t to) {
    SyncVariables& vars = causality.variables(access.space, access.record.cta);
    if (!vars.empty()) vars.overwritten(from, to, access.record.attributes & kStrong);
  }
  void contested(const Access& access, uint64_t address, uint32_t lanes, const void* values,
                 uint32_t stride);

  Causality causality;
  Conflicts conflicts;
  Judge judge;
  Shadow shadow;
  std::vector<Access> groups{1}; // the lanes of one instruction by their time
  // What groups.front() was prepared for, as long as nothing but accesses comes between.
  Agent prepared{UINT32_MAX, UINT32_MAX};
  Space prepared_space = Space::local;
  bool prepared_uniform = false;
  Region* region = nullptr; // shared memory of the preparing CTA
  std::vector<Target> targets;
  AddressGroups addresses;
};

// What the accesses of one agent have in common until something else happens.
void Detector::State::prepare(Space space, Agent agent) {
  CtaState& c = causality.cta(agent.cta);
  bool copy = agent.warp >= kCopyAgent;
  groups.resize(1);
  Access& a = groups.front();
  a.space = space;
  a.space_cta = space == Space::shared ? agent.cta : 0;
  a.record.cta = agent.cta;
  a.record.warps = copy ? agent.warp - kCopyAgent : 1u << agent.warp;
  prepared = agent;
  prepared_space = space;
  prepared_uniform = false;
  region = space == Space::shared ? shadow.region(space, agent.cta, 0) : nullptr;
  if (copy) return;
  CHECK(agent.warp < c.warps.size());
  const WarpState& w = c.warps[agent.warp];
  a.observer = Causality::observer(c, agent.cta, agent.warp);
  a.record.time = std::max(c.floor, w.base);
  prepared_uniform = Causality::uniform(c, w);
}

// Fills `groups`: lanes that share a time, with what they know. True if it is one.
bool Detector::State::split(Space space, Agent agent, uint32_t lanes, const AccessInfo& info,
                            uint16_t attributes) {
  if (agent.cta != prepared.cta || agent.warp != prepared.warp || space != prepared_space)
    prepare(space, agent);
  Access& a = groups.front();
  bool copy = agent.warp >= kCopyAgent;
  a.record.lanes = lanes;
  a.record.pc = info.pc;
  a.record.attributes = uint16_t(attributes | (copy ? kCopy : 0));
  a.record.change = info.write && !info.silent ? shadow.next_change() : shadow.change();
  if (prepared_uniform) return true;
  prepared = {UINT32_MAX, UINT32_MAX};
  const CtaState& c = *causality.find(agent.cta);
  Access pattern = a;
  groups.clear();
  for (uint32_t l = 0; l < 32; ++l) {
    if (!(lanes >> l & 1)) continue;
    const CopyLane* issued = copy ? causality.copy(agent.cta, agent.warp - kCopyAgent, l) : nullptr;
    CHECK(issued || !copy);
    uint32_t t = copy ? issued->start.time : Causality::time(c, c.warps[agent.warp], l);
    auto it = groups.begin();
    while (it != groups.end() && (copy || it->record.time != t)) ++it;
    if (it == groups.end()) {
      it = groups.insert(it, pattern);
      it->record.lanes = 0;
      it->record.time = t;
      if (copy)
        it->observer = Causality::observer(c, agent.cta, agent.warp - kCopyAgent, *issued);
    }
    it->record.lanes |= 1u << l;
  }
  return groups.size() == 1;
}

// The rows that an access touches, one part of it in each.
template <class Visit>
inline void Detector::State::rows(Access& access, uint64_t address, Visit visit) {
  Record& r = access.record;
  uint64_t end = address + uint64_t(r.bytes()) * (r.affine() ? 32 : 1);
  bool shared = access.space == Space::shared;
  Region* at = shared ? region : shadow.region(access.space, r.cta, address);
  for (uint64_t first = address & ~uint64_t(kRowBytes - 1); first < end; first += kRowBytes) {
    Row* row = shadow.row(at, std::max(first, address));
    if (!row) continue;
    r.start = int16_t(int64_t(address - first));
    if (r.lanes != kAllLanes && !r.lanes_at(0, kRowBytes)) continue;
    access.row_address = first;
    if (shared) shadow.touch({at, row}, r.cta);
    visit(Place{at, row});
  }
}

void Detector::State::now(Access& access, uint64_t address) {
  rows(access, address, [&](const Place& place) {
    shadow.take(place, judge, access, *access.observer.state);
  });
}

// Where parts of one instruction may meet, all are judged before any is kept: lanes of one
// instruction do not race by being recorded one after the other.
void Detector::State::later(Access& access, uint64_t address) {
  rows(access, address, [&](const Place& place) { targets.push_back({place, access}); });
}
void Detector::State::finish() {
  for (const Target& t : targets) shadow.judge(t.place, judge, t.access);
  for (const Target& t : targets) shadow.insert(t.place, t.access.record, *t.access.observer.state);
  targets.clear();
}

// Lanes of one instruction that write one location.
void Detector::State::contested(const Access& access, uint64_t address, uint32_t lanes,
                                const void* values, uint32_t stride) {
  if (!shadow.row(shadow.region(access.space, access.record.cta, address), address)) return;
  auto value = [&](uint32_t l) { return static_cast<const char*>(values) + l * stride; };
  for (uint32_t m = lanes & (lanes - 1); m; m &= m - 1) {
    uint32_t l = uint32_t(std::countr_zero(m));
    for (uint32_t k = lanes & ((1u << l) - 1); k; k &= k - 1) {
      uint32_t o = uint32_t(std::countr_zero(k));
      bool differ = values && std::memcmp(value(o), value(l), size_t(access.record.bytes())) != 0;
      judge.same_instruction(access, o, l, address, differ);
    }
  }
}

Detector::Detector(const LaunchShape& shape, const Limits& limits)
    : state_(std::make_unique<State>(shape, limits)) {}
Detector::~Detector() = default;

void Detector::track(uint64_t base, uint64_t bytes) { state_->shadow.track(base, bytes); }

void Detector::cta_begin(uint32_t cta, uint32_t shared_bytes) {
  state_->changing().cta_begin(cta);
  if (shared_bytes) state_->shadow.shared_begin(cta, shared_bytes);
}

void Detector::cta_end(uint32_t cta) {
  state_->changing().cta_end(cta);
  state_->shadow.shared_end(cta);
}

namespace {
AccessInfo normal(AccessInfo info) {
  CHECK(info.bytes >= 1 && info.bytes <= 32);
  if (!info.write) info.silent = false;
  info.strong |= info.atomic;
  return info;
}
} // namespace

void Detector::affine(Space space, Agent agent, uint64_t address, const AccessInfo& given) {
  State& s = *state_;
  if (space == Space::local) return;
  AccessInfo info = normal(given);
  bool one = s.split(space, agent, kAllLanes, info, pack(info) | kAffine);
  if (info.write) {
    uint32_t parts = info.strong ? 32 : 1; // each lane's location may begin a chain
    uint64_t bytes = info.bytes * 32u / parts;
    for (uint32_t l = 0; l < parts; ++l)
      s.overwritten(s.groups.front(), address + l * bytes, address + (l + 1) * bytes);
  }
  if (one) return s.now(s.groups.front(), address);
  for (Access& g : s.groups) s.later(g, address);
  s.finish();
}

void Detector::broadcast(Space space, Agent agent, uint32_t lanes, uint64_t address,
                         const AccessInfo& given) {
  State& s = *state_;
  if (space == Space::local || !lanes) return;
  AccessInfo info = normal(given);
  CHECK(!info.write);
  s.split(space, agent, lanes, info, pack(info));
  for (Access& g : s.groups) s.now(g, address);
}

void Detector::access(Space space, Agent agent, uint32_t lanes, const uint64_t* address,
                      const AccessInfo& given, const void* values, uint32_t value_stride,
                      uint32_t silent_lanes) {
  State& s = *state_;
  if (space == Space::local || !lanes) return;
  AccessInfo info = normal(given);
  if (!info.write) silent_lanes = 0;
  silent_lanes &= lanes;
  info.silent = info.write && silent_lanes == lanes;
  bool one = s.split(space, agent, lanes, info, pack(info));
  s.addresses.collect(lanes, address);
  // Locations of one size that are all aligned to it are equal or apart.
  bool apart = (info.bytes & (info.bytes - 1)) == 0 && (s.addresses.bits() & (info.bytes - 1)) == 0;
  for (const AddressGroups::Group& at : s.addresses.groups()) {
    if (info.write) {
      s.overwritten(s.groups.front(), at.address, at.address + info.bytes);
      if (at.lanes & (at.lanes - 1))
        s.contested(s.groups.front(), at.address, at.lanes, values, value_stride);
    }
    uint32_t silent = at.lanes & silent_lanes;
    if (one && apart && (silent == 0 || silent == at.lanes)) {
      Access& g = s.groups.front();
      g.record.lanes = at.lanes;
      g.set_silent(silent);
      s.now(g, at.address);
      continue;
    }
    for (Access& g : s.groups) {
      uint32_t all = g.record.lanes;
      for (uint32_t part : {at.lanes & ~silent, silent}) {
        g.record.lanes = part & (one ? kAllLanes : all);
        g.set_silent(part & silent);
        if (g.record.lanes) s.later(g, at.address);
      }
      g.record.lanes = all;
    }
    if (apart) s.finish();
  }
  s.finish();
}

void Detector::barrier(const BarrierPhase& phase) {
  State& s = *state_;
  if (!s.changing().barrier(phase)) return;
  const CtaState& c = s.causality.cta(phase.cta);
  s.shadow.shared_floor(phase.cta, Causality::dead_below(c), c.unjoined.empty());
}
void Detector::warp_sync(Agent agent, uint32_t lanes) { state_->changing().warp_sync(agent, lanes); }
void Detector::exited(Agent agent, uint32_t lanes) { state_->changing().exited(agent, lanes); }

void Detector::strong_write(Space space, Agent agent, uint32_t lane, uint64_t address,
                            uint8_t bytes, Order order, Scope scope) {
  state_->changing().write(space, agent, lane, address, bytes, order, scope);
}
void Detector::strong_read(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                           Order order, Scope scope) {
  state_->changing().read(space, agent, lane, address, bytes, order, scope);
}
void Detector::read_modify_write(Space space, Agent agent, uint32_t lane, uint64_t address,
                                 uint8_t bytes, Order order, Scope scope, bool reduction) {
  state_->changing().read_modify_write(space, agent, lane, address, bytes, order, scope, reduction);
}
void Detector::fence(Agent agent, uint32_t lanes, Fence fence, Scope scope) {
  state_->changing().fence(agent, lanes, fence, scope);
}

void Detector::copy_issue(Agent issuer, uint32_t lane, uint32_t copy) {
  CHECK(copy >= kCopyAgent);
  state_->changing().copy_issue(issuer, lane, copy - kCopyAgent);
}
void Detector::copy_joined(Agent waiter, uint32_t lane, uint32_t copy) {
  CHECK(copy >= kCopyAgent);
  state_->changing().copy_joined(waiter, lane, copy - kCopyAgent);
}

const std::vector<Conflict>& Detector::conflicts() const { return state_->conflicts.list(); }
const std::vector<uint64_t>& Detector::conflict_counts() const {
  return state_->conflicts.counts();
}
bool Detector::overflowed() const {
  return state_->shadow.overflowed() || state_->conflicts.overflowed();
}
uint64_t Detector::shadow_bytes() const { return state_->shadow.bytes(); }

uint32_t Detector::time(Agent agent, uint32_t lane) const {
  const CtaState* c = state_->causality.find(agent.cta);
  if (!c) return 0;
  if (agent.warp >= kCopyAgent) {
    const CopyLane* copy = state_->causality.copy(agent.cta, agent.warp - kCopyAgent, lane);
    return copy ? copy->start.time : 0;
  }
  return agent.warp < c->warps.size() ? Causality::time(*c, c->warps[agent.warp], lane) : 0;
}

} // namespace assay::race
