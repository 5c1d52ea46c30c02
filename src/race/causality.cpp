// The lanes' clocks: state, knowledge, barriers and warp syncs; see causality.hpp.
#include "race/causality.hpp"

#include "base/check.hpp"
#include "race/record.hpp"

#include <algorithm>
#include <bit>

namespace assay::race {

ClockRef Snapshot::clock() const {
  ClockBuilder out;
  out.add(cta_clock);
  out.add(warp_clock);
  out.add(lane_clock);
  out.add(cta_key(cta), cta_floor);
  out.add(warp_key(cta, warp), warp_floor);
  out.add(lane_key(cta, warp, lane), time + 1);
  return out.take();
}

Causality::Causality(const std::vector<LaunchShape>& grids, const Limits& limits)
    : versions_(limits.versions), fence_order_(limits.fence_order) {
  uint32_t ctas = 0;
  for (const LaunchShape& shape : grids) {
    CHECK(shape.warps_per_cta >= 1 && shape.warps_per_cta <= 32);
    CHECK(shape.lanes_of_last_warp >= 1 && shape.lanes_of_last_warp <= 32);
    grids_.push_back({ctas, shape, {}, {}});
    ctas += shape.ctas;
  }
  CHECK(!grids_.empty() && ctas < grid_agent(0));
  ctas_.resize(ctas);
  forgotten_.resize(ctas);
}

void Causality::cta_begin(uint32_t index) {
  CHECK(index < ctas_.size() && !ctas_[index]);
  ctas_[index] = std::make_unique<CtaState>();
  const Grid& grid = grids_[grid_of(index)];
  ctas_[index]->warps.resize(grid.shape.warps_per_cta);
  ctas_[index]->last_warp = kAllLanes >> (32 - grid.shape.lanes_of_last_warp);
  ctas_[index]->clock = grid.start;
}

// What records of global memory refer to stays: who joined which copies.
void Causality::cta_end(uint32_t index) {
  CtaState& c = cta(index);
  forgotten_[index] = !c.published;
  if (grids_.size() > 1) leave_knowledge(c, index);
  std::erase_if(c.copies, [](const auto& copies) { return !copies.second->tracked; });
  if (c.copies.empty()) {
    ctas_[index] = nullptr;
    return;
  }
  for (auto& [number, group] : c.copies)
    for (CopyLane& copy : group->lanes) copy.start = Snapshot{};
  std::vector<WarpState>().swap(c.warps);
  c.clock = c.sc = ClockRef();
  c.shared = SyncVariables();
  c.releases = Releases();
  c.mbarriers.clear();
}

bool Causality::ordered(const Observer& o, uint32_t lane, uint32_t cta, uint32_t warp,
                        uint32_t from_lane, uint32_t time) const {
  if (cta == o.cta) {
    if (time < o.cta_floor) return true;
    if (warp == o.warp) {
      if (time < o.warp_floor) return true;
      if (from_lane == lane && (!o.copy || time <= o.copy->start.time)) return true;
    }
  }
  for (const Clock* clock : {o.cta_clock(), o.warp_clock(), o.lane_clock(lane)})
    if (clock && time < clock->known(cta, warp, from_lane)) return true;
  return grid_known(o, lane, cta);
}

bool Causality::copy_ordered(const Observer& o, uint32_t lane, uint32_t cta, uint32_t group,
                             uint32_t copy_lane) const {
  if (o.copy && cta == o.cta && group == o.copy_group && copy_lane == lane) return true;
  const CopyGroup* c = copies(cta, group);
  if (!c || grid_known(o, lane, cta)) return true;
  for (const CopyLane::Join& j : c->lanes[copy_lane].joins)
    if (ordered(o, lane, j.by_arrival ? arrivals_of(cta) : cta, j.warp, j.lane, j.time))
      return true;
  return false;
}

bool Causality::observed(const Observer& o, uint32_t lane, Space space, uint64_t address,
                         uint32_t bytes, const Moment& write) const {
  const SyncVariables& vars = space == Space::shared ? ctas_[o.cta]->shared : global_;
  return vars.log().observed(address, bytes, write, [&](const Moment& m) {
    return ordered(o, lane, m.cta, m.warp, m.lane, m.time);
  });
}

CopyGroup* Causality::copies(uint32_t cta, uint32_t group) const {
  const CtaState* c = ctas_[cta].get();
  if (!c) return nullptr;
  auto it = c->copies.find(group);
  return it == c->copies.end() ? nullptr : it->second.get();
}

LaneState& Causality::lane_state(CtaState& c, WarpState& w, uint32_t lane) {
  if (!w.lanes) w.lanes = std::make_unique<std::array<LaneState, 32>>();
  return (*w.lanes)[lane];
}

Snapshot Causality::snapshot(const CtaState& c, uint32_t cta, uint32_t warp, uint32_t lane) const {
  const WarpState& w = c.warps[warp];
  return {cta,     warp,    lane,
          c.floor, w.floor, time(c, w, lane),
          c.clock, w.clock, w.lanes ? (*w.lanes)[lane].clock : ClockRef()};
}

void Causality::bump(CtaState& c, uint32_t warp, uint32_t lanes) {
  WarpState& w = c.warps[warp];
  if ((lanes | w.exited) == warp_lanes(c, warp) && uniform(c, w)) {
    w.base = std::max(c.floor, w.base) + 1;
    c.top = std::max(c.top, w.base);
  } else {
    for (uint32_t l = 0; l < 32; ++l) {
      if (!(lanes >> l & 1)) continue;
      w.own[l] = time(c, w, l) + 1;
      w.top = std::max(w.top, w.own[l]);
    }
    c.top = std::max(c.top, w.top);
  }
  CHECK(c.top < UINT32_MAX - 1);
}

void Causality::join(CtaState& c, uint32_t warp, uint32_t lane, const ClockRef& clock) {
  if (!clock) return;
  LaneState& l = lane_state(c, c.warps[warp], lane);
  l.clock = merge(l.clock, clock);
  c.fine = true;
}

// -- barriers ------------------------------------------------------------------------------------

bool Causality::full_barrier(const Detector::BarrierPhase& phase, const CtaState& c) const {
  for (uint32_t w = 0; w < c.warps.size(); ++w) {
    uint32_t all = warp_lanes(c, w);
    if ((phase.arrived[w] | phase.exited[w]) != all) return false;
    if ((phase.acquiring[w] | phase.exited[w] | c.warps[w].exited) != all) return false;
  }
  return true;
}

void Causality::raise_floor(CtaState& c, uint32_t cta) {
  if (c.fine) {
    ClockBuilder all;
    all.add(c.clock);
    all.add(cta_key(cta), c.top + 1); // makes the CTA's finer entries superfluous
    for (WarpState& w : c.warps) {
      all.add(std::exchange(w.clock, ClockRef()));
      if (w.lanes)
        for (LaneState& l : *w.lanes) all.add(std::exchange(l.clock, ClockRef()));
    }
    c.clock = all.take();
    c.fine = false;
  }
  c.floor = ++c.top;
  c.floors.push_back(c.floor);
  if (!c.copies.empty()) forget_copies(c, cta);
  CHECK(c.top < UINT32_MAX - 1);
}

// Copies that are joined for good: what is left in shared memory of them is dead.
void Causality::forget_copies(CtaState& c, uint32_t cta) {
  auto dead = [&](const CopyLane::Join& j) { return settled(c, cta, j); };
  std::erase_if(c.copies, [&](const auto& entry) {
    const CopyGroup& g = *entry.second;
    return !g.tracked && g.joined == g.issued &&
           std::all_of(g.lanes.begin(), g.lanes.end(), [&](const CopyLane& l) {
             return l.joins.empty() || std::any_of(l.joins.begin(), l.joins.end(), dead);
           });
  });
}

// A warp that has not waited for the end of the phase in which it arrived, and arrives again, can
// run ahead in another schedule: both arrivals then meet one phase (PTX ISA 9.0, 9.7.13.1, says of
// that nothing). To know of that end is to have it in one's causal past.
void Causality::arrives_again(Agent agent, uint32_t lanes, uint32_t number) {
  CtaState& c = cta(agent.cta);
  auto it = c.arrivals.find(number);
  if (it == c.arrivals.end() || doubt_) return;
  Arrivals& a = it->second;
  bool knows = a.lanes.empty() || !(a.lanes[agent.warp] & lanes);
  if (uint32_t phase = a.left.empty() ? 0 : a.left[agent.warp]) {
    Observer o = observer(c, agent.cta, agent.warp);
    for (uint32_t m = lanes; m && knows; m &= m - 1)
      knows = ordered(o, uint32_t(std::countr_zero(m)), mbarriers_of(agent.cta), kNamedBarriers,
                      number, phase - 1);
  }
  if (!knows)
    doubt_ = "a warp arrives at a named barrier again and may run ahead of the phase in which it "
             "arrived before";
}

void Causality::arrived(Agent agent, uint32_t lanes, uint32_t number) {
  CtaState& c = cta(agent.cta);
  Arrivals& a = c.arrivals[number];
  ClockBuilder known, done;
  known.add(a.known);
  done.add(a.performed);
  for (uint32_t m = lanes; m; m &= m - 1) {
    uint32_t l = std::countr_zero(m);
    known.add(snapshot(c, agent.cta, agent.warp, l).clock());
    if (versions_) performed(c, agent, l, done);
  }
  a.known = known.take();
  a.performed = done.take();
  a.lanes.resize(c.warps.size());
  a.lanes[agent.warp] |= lanes;
  bump(c, agent.warp, lanes);
}

bool Causality::barrier(const Detector::BarrierPhase& phase) {
  CtaState& c = cta(phase.cta);
  CHECK(phase.arrived.size() == c.warps.size() && phase.acquiring.size() == c.warps.size() &&
        phase.exited.size() == c.warps.size());
  Arrivals before; // those who went on at once contribute what they had done when they arrived
  if (auto it = c.arrivals.find(phase.number); it != c.arrivals.end()) {
    Arrivals& a = it->second;
    before.lanes.swap(a.lanes);
    before.performed = std::exchange(a.performed, ClockRef());
    a.left.resize(c.warps.size());
    if (!before.lanes.empty()) {
      ClockBuilder all; // those who wait learn that the phase is complete
      all.add(std::exchange(a.known, ClockRef()));
      all.add(lane_key(mbarriers_of(phase.cta), kNamedBarriers, phase.number), ++a.phases);
      before.known = all.take();
    }
    for (uint32_t w = 0; w < a.left.size(); ++w)
      if (phase.arrived[w]) a.left[w] = phase.acquiring[w] ? 0 : a.phases;
  }
  const bool full = before.lanes.empty() && full_barrier(phase, c);
  if (full && !versions_) {
    raise_floor(c, phase.cta);
    return true;
  }
  Masks parts(c.warps.size());
  for (uint32_t w = 0; w < parts.size(); ++w)
    parts[w] = (phase.arrived[w] | phase.exited[w]) & ~(before.lanes.empty() ? 0 : before.lanes[w]);
  if (versions_) perform(phase.cta, parts, phase.acquiring, before.performed);
  if (full) {
    raise_floor(c, phase.cta);
    return true;
  }
  synchronise(phase.cta, parts, phase.acquiring, before.known);
  return false;
}

// A warp sync of all lanes: the same one level down.
void Causality::raise_warp(CtaState& c, uint32_t cta, uint32_t warp) {
  WarpState& w = c.warps[warp];
  if (w.lanes) {
    ClockBuilder all;
    all.add(w.clock);
    for (LaneState& l : *w.lanes) all.add(std::exchange(l.clock, ClockRef()));
    w.clock = all.take();
  }
  w.base = w.floor = std::max({c.floor, w.base, w.top}) + 1;
  c.top = std::max(c.top, w.base);
  CHECK(c.top < UINT32_MAX - 1);
}

void Causality::warp_sync(Agent agent, uint32_t lanes) {
  CtaState& c = cta(agent.cta);
  if (versions_) {
    Masks all(c.warps.size());
    all[agent.warp] = lanes;
    perform(agent.cta, all, all, ClockRef());
  }
  if (lanes == warp_lanes(c, agent.warp) && !c.warps[agent.warp].exited)
    return raise_warp(c, agent.cta, agent.warp);
  Masks masks(c.warps.size());
  masks[agent.warp] = lanes;
  synchronise(agent.cta, masks, masks, ClockRef());
}

// Any other meeting: what the participants know and did, as one clock with `more`, to those who
// acquire.
void Causality::synchronise(uint32_t cta_index, const Masks& parts, const Masks& acquiring,
                            const ClockRef& more) {
  CtaState& c = cta(cta_index);
  uint32_t top = 0;
  for (uint32_t w = 0; w < parts.size(); ++w) {
    const WarpState& warp = c.warps[w];
    if (parts[w]) top = std::max({top, c.floor, warp.base});
    for (uint32_t l = 0; l < 32 && !uniform(c, warp); ++l)
      if (parts[w] >> l & 1) top = std::max(top, warp.own[l]);
  }
  ++top; // the participants' next time, so that everything of theirs below it is before
  c.top = std::max(c.top, top);
  CHECK(c.top < UINT32_MAX - 1);
  ClockBuilder all;
  all.add(more);
  for (uint32_t w = 0; w < parts.size(); ++w) {
    WarpState& warp = c.warps[w];
    if (!parts[w]) continue;
    if (parts[w] & ~warp.exited) {
      all.add(warp.clock);
      if (warp.floor > c.floor) all.add(warp_key(cta_index, w), warp.floor);
    }
    if (parts[w] == warp_lanes(c, w)) all.add(warp_key(cta_index, w), top);
    bool whole = parts[w] == warp_lanes(c, w);
    for (uint32_t l = 0; l < 32 && (warp.lanes || !whole); ++l) {
      if (!(parts[w] >> l & 1)) continue;
      if (warp.lanes) all.add((*warp.lanes)[l].clock);
      if (!whole) all.add(lane_key(cta_index, w, l), top);
    }
  }
  ClockRef clock = all.take();
  for (uint32_t w = 0; w < parts.size(); ++w) {
    WarpState& warp = c.warps[w];
    if (acquiring[w]) give(c, w, acquiring[w], clock);
    if (parts[w] == warp_lanes(c, w)) {
      warp.base = top;
      if ((acquiring[w] | warp.exited) == warp_lanes(c, w)) warp.floor = top;
      continue;
    }
    for (uint32_t published = parts[w] & ~warp.exited; published; published &= published - 1) {
      warp.own[std::countr_zero(published)] = top;
      warp.top = std::max(warp.top, top);
    }
  }
  c.fine = true;
}

// Lanes take `clock`, which contains what they knew before: they are participants themselves.
void Causality::give(CtaState& c, uint32_t warp, uint32_t lanes, const ClockRef& clock) {
  WarpState& w = c.warps[warp];
  if ((lanes | w.exited) == warp_lanes(c, warp)) {
    w.clock = clock;
    for (uint32_t l = 0; l < 32 && w.lanes; ++l)
      if (lanes >> l & 1) (*w.lanes)[l].clock = ClockRef();
    return;
  }
  for (uint32_t l = 0; l < 32; ++l)
    if (lanes >> l & 1) lane_state(c, w, l).clock = clock;
}

// A lane that is gone may still count as arrived: what it knew must not grow with its warp's.
void Causality::exited(Agent agent, uint32_t lanes) {
  CtaState& c = cta(agent.cta);
  WarpState& w = c.warps[agent.warp];
  if (w.clock || w.floor > c.floor)
    for (uint32_t l = 0; l < 32; ++l)
      if (lanes >> l & 1) {
        ClockBuilder all;
        all.add(w.clock);
        all.add(warp_key(agent.cta, agent.warp), w.floor);
        join(c, agent.warp, l, all.take());
      }
  w.exited |= lanes;
}

} // namespace assay::race
