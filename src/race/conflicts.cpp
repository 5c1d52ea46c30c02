// Deduplication of conflicts; see conflicts.hpp.
#include "race/conflicts.hpp"

#include "base/random.hpp"

#include <algorithm>

namespace assay::race {
namespace {
bool same_side(const Side& a, const Side& b) {
  return a.agent.cta == b.agent.cta && a.agent.warp == b.agent.warp && a.lane == b.lane &&
         a.time == b.time && a.info.pc == b.info.pc;
}
bool same_instance(const Conflict& a, const Conflict& b) {
  return a.address == b.address && same_side(a.first, b.first) && same_side(a.second, b.second);
}
uint64_t instance_hash(const Conflict& c) {
  uint64_t h = mix64(c.address);
  for (const Side* s : {&c.first, &c.second})
    h = mix64(h ^ (uint64_t(s->agent.cta) << 32 | s->agent.warp << 5 | s->lane));
  return h;
}
} // namespace

size_t Conflicts::KeyHash::operator()(const Key& k) const { return mix64(k.pcs ^ mix64(k.rest)); }

void Conflicts::add(const Conflict& c) {
  Key key = key_of(c.kind, {c.first.info.pc, c.first.grid}, {c.second.info.pc, c.second.grid},
                   c.space, distance(c.first.agent, c.second.agent));
  Recent& recent = recent_[slot(key)];
  if (!(key == recent.key)) {
    auto it = index_.find(key);
    if (it == index_.end()) {
      if (groups_.size() >= limit_) {
        overflowed_ = true;
        return;
      }
      it = index_.emplace(key, groups_.size()).first;
      groups_.emplace_back().first = c;
    }
    recent = {key, it->second};
  }
  Group& g = groups_[recent.group];
  ++g.count;
  g.last = c;
  const uint64_t h = instance_hash(c) >> 2 | uint64_t(c.stake) << kStakeShift;
  if (h < g.best) g.best = h, g.picked = c;
  if (!g.boundary && (c.first.agent.cta == last_cta_ || c.second.agent.cta == last_cta_))
    g.boundary = c;
  fresh_ = false;
}

const std::vector<Conflict>& Conflicts::list() const {
  if (fresh_) return list_;
  list_.clear();
  counts_.clear();
  for (const Group& g : groups_) {
    std::vector<const Conflict*> chosen{&g.first};
    auto add = [&](const Conflict& c) {
      for (const Conflict* other : chosen)
        if (same_instance(*other, c)) return;
      chosen.push_back(&c);
    };
    add(g.last);
    if (g.boundary) add(*g.boundary);
    add(g.picked);
    for (const Conflict* c : chosen) {
      list_.push_back(*c);
      counts_.push_back(g.count);
    }
  }
  fresh_ = true;
  return list_;
}

} // namespace assay::race
