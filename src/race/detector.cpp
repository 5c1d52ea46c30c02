// The detector's front: turns accesses into records by row, judges them against the shadow, then
// keeps them; passes causality on. See detector.hpp.
#include "race/detector.hpp"

#include "base/check.hpp"
#include "race/causality.hpp"
#include "race/conflicts.hpp"
#include "race/judge.hpp"
#include "race/shadow.hpp"

#include <cstring>

namespace assay::race {

struct Detector::State {
  State(const LaunchShape& shape, const Limits& limits)
      : causality(shape), conflicts(shape.ctas - 1, limits.conflicts), judge(causality, conflicts),
        shadow(limits.shadow_bytes) {}

  // Lanes of one agent that share a time, with what they know.
  struct Group {
    uint32_t lanes, time;
    Observer observer;
  };
  struct Target {
    Row* row;
    Access access;
  };

  void split(Agent agent, uint32_t lanes);
  void place(Space space, Agent agent, const Group& group, uint64_t address, uint32_t lanes,
             uint32_t pc, uint16_t attributes, uint32_t change);
  void finish();
  void overwritten(Space space, uint32_t cta, uint64_t from, uint64_t to, bool strong) {
    SyncVariables& vars = causality.variables(space, cta);
    if (!vars.empty()) vars.overwritten(from, to, strong);
  }

  Causality causality;
  Conflicts conflicts;
  Judge judge;
  Shadow shadow;
  std::vector<Group> groups;
  std::vector<Target> targets;
};

void Detector::State::split(Agent agent, uint32_t lanes) {
  groups.clear();
  const CtaState& c = causality.cta(agent.cta);
  if (agent.warp >= kCopyAgent) {
    for (uint32_t l = 0; l < 32; ++l) {
      if (!(lanes >> l & 1)) continue;
      const CopyLane* copy = causality.copy(agent.cta, agent.warp - kCopyAgent, l);
      CHECK(copy);
      groups.push_back({1u << l, copy->start.time,
                        causality.copy_observer(agent.cta, agent.warp - kCopyAgent, *copy)});
    }
    return;
  }
  CHECK(agent.warp < c.warps.size());
  const WarpState& w = c.warps[agent.warp];
  Observer observer = causality.observer(c, agent.cta, agent.warp);
  if (Causality::uniform(c, w)) {
    groups.push_back({lanes, Causality::time(c, w, 0), observer});
    return;
  }
  for (uint32_t l = 0; l < 32; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint32_t t = Causality::time(c, w, l);
    auto it = std::find_if(groups.begin(), groups.end(), [&](auto& g) { return g.time == t; });
    if (it == groups.end()) it = groups.insert(it, {0, t, observer});
    it->lanes |= 1u << l;
  }
}

// One record for each row that the lanes' locations touch.
void Detector::State::place(Space space, Agent agent, const Group& group, uint64_t address,
                            uint32_t lanes, uint32_t pc, uint16_t attributes, uint32_t change) {
  Target t;
  Record& r = t.access.record;
  bool copy = agent.warp >= kCopyAgent;
  r.cta = agent.cta;
  r.warps = copy ? agent.warp - kCopyAgent : 1u << agent.warp;
  r.lanes = lanes;
  r.time = group.time;
  r.pc = pc;
  r.attributes = uint16_t(attributes | (copy ? kCopy : 0));
  r.change = change;
  t.access.observer = group.observer;
  t.access.space = space;
  t.access.space_cta = space == Space::shared ? agent.cta : 0;
  uint64_t end = address + uint64_t(r.bytes()) * (r.affine() ? 32 : 1);
  for (uint64_t row = address / kRowBytes * kRowBytes; row < end; row += kRowBytes) {
    t.row = shadow.row(space, agent.cta, std::max(row, address));
    if (!t.row) continue;
    r.start = int16_t(int64_t(address - row));
    if (!r.lanes_at(0, kRowBytes)) continue;
    t.access.row_address = row;
    targets.push_back(t);
  }
}

// All parts of one instruction are judged before any is kept: its lanes do not race by this.
void Detector::State::finish() {
  for (const Target& t : targets) t.row->judge(judge, t.access);
  for (const Target& t : targets) {
    size_t before = t.row->size();
    t.row->insert(t.access.record, *causality.find(t.access.record.cta));
    if (t.row->size() > before) shadow.grown(sizeof(Record));
  }
  targets.clear();
}

Detector::Detector(const LaunchShape& shape, const Limits& limits)
    : state_(std::make_unique<State>(shape, limits)) {}
Detector::~Detector() = default;

void Detector::track(uint64_t base, uint64_t bytes) { state_->shadow.track(base, bytes); }

void Detector::cta_begin(uint32_t cta, uint32_t shared_bytes) {
  state_->causality.cta_begin(cta);
  if (shared_bytes) state_->shadow.shared_begin(cta, shared_bytes);
}

void Detector::cta_end(uint32_t cta) {
  state_->causality.cta_end(cta);
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
  if (info.write)
    for (uint32_t l = 0; l < (info.strong ? 32u : 1u); ++l)
      s.overwritten(space, agent.cta, address + l * info.bytes,
                    address + (info.strong ? l + 1 : 32) * info.bytes, info.strong);
  uint32_t change = info.write && !info.silent ? s.shadow.next_change() : s.shadow.change();
  s.split(agent, kAllLanes);
  for (const State::Group& g : s.groups)
    s.place(space, agent, g, address, g.lanes, info.pc, pack(info) | kAffine, change);
  s.finish();
}

void Detector::broadcast(Space space, Agent agent, uint32_t lanes, uint64_t address,
                         const AccessInfo& given) {
  State& s = *state_;
  if (space == Space::local) return;
  AccessInfo info = normal(given);
  CHECK(!info.write);
  s.split(agent, lanes);
  for (const State::Group& g : s.groups)
    s.place(space, agent, g, address, g.lanes, info.pc, pack(info), s.shadow.change());
  s.finish();
}

void Detector::access(Space space, Agent agent, uint32_t lanes, const uint64_t* address,
                      const AccessInfo& given, const void* values, uint32_t value_stride,
                      uint32_t silent_lanes) {
  State& s = *state_;
  if (space == Space::local || !lanes) return;
  AccessInfo info = normal(given);
  if (!info.write) silent_lanes = 0;
  info.silent = false;
  uint32_t change =
      info.write && (lanes & ~silent_lanes) ? s.shadow.next_change() : s.shadow.change();
  auto value = [&](uint32_t l) { return static_cast<const char*>(values) + l * value_stride; };
  s.split(agent, lanes);
  uint32_t seen = 0;
  for (const State::Group& g : s.groups) {
    for (uint32_t rest = g.lanes; rest;) {
      uint32_t first = std::countr_zero(rest), same = 0;
      bool silent = silent_lanes >> first & 1;
      for (uint32_t m = rest; m; m &= m - 1) {
        uint32_t l = std::countr_zero(m);
        if (address[l] == address[first] && bool(silent_lanes >> l & 1) == silent) same |= 1u << l;
      }
      rest &= ~same;
      info.silent = silent;
      size_t placed = s.targets.size();
      s.place(space, agent, g, address[first], same, info.pc, pack(info), change);
      if (!info.write) continue;
      s.overwritten(space, agent.cta, address[first], address[first] + info.bytes, info.strong);
      if (s.targets.size() == placed) continue;
      // Lanes of this instruction at one location: each against an earlier one.
      for (uint32_t m = same; m; m &= m - 1) {
        uint32_t l = std::countr_zero(m);
        for (uint32_t k = seen; k; k &= k - 1) {
          uint32_t o = std::countr_zero(k);
          if (address[o] != address[l]) continue;
          bool differ = values && std::memcmp(value(o), value(l), info.bytes) != 0;
          s.judge.same_instruction(s.targets.back().access, o, l, address[l], differ);
        }
        seen |= 1u << l;
      }
    }
  }
  s.finish();
}

void Detector::barrier(const BarrierPhase& phase) { state_->causality.barrier(phase); }
void Detector::warp_sync(Agent agent, uint32_t lanes) { state_->causality.warp_sync(agent, lanes); }
void Detector::exited(Agent agent, uint32_t lanes) { state_->causality.exited(agent, lanes); }

void Detector::strong_write(Space space, Agent agent, uint32_t lane, uint64_t address,
                            uint8_t bytes, Order order, Scope scope) {
  state_->causality.write(space, agent, lane, address, bytes, order, scope);
}
void Detector::strong_read(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                           Order order, Scope scope) {
  state_->causality.read(space, agent, lane, address, bytes, order, scope);
}
void Detector::read_modify_write(Space space, Agent agent, uint32_t lane, uint64_t address,
                                 uint8_t bytes, Order order, Scope scope, bool reduction) {
  state_->causality.read_modify_write(space, agent, lane, address, bytes, order, scope, reduction);
}
void Detector::fence(Agent agent, uint32_t lanes, Fence fence, Scope scope) {
  state_->causality.fence(agent, lanes, fence, scope);
}

void Detector::copy_issue(Agent issuer, uint32_t lane, uint32_t copy) {
  CHECK(copy >= kCopyAgent);
  state_->causality.copy_issue(issuer, lane, copy - kCopyAgent);
}
void Detector::copy_joined(Agent waiter, uint32_t lane, uint32_t copy) {
  CHECK(copy >= kCopyAgent);
  state_->causality.copy_joined(waiter, lane, copy - kCopyAgent);
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
