// mbarrier objects: edge (f) of docs/concurrency.md, and whether phases can have other participants
// in another schedule; see causality.hpp. Source: PTX ISA 9.0, section 9.7.13.15.
//
// A run shows one assignment of operations to phases. Every schedule has the same one when, for
// each phase n of each object, what is looked at here holds (docs/concurrency.md, "mbarrier", has
// the argument):
//   1. whoever arrives in it knows that phase n - 1 is complete;
//   2. whoever is told that it is complete knows that phase n - 1 is;
//   3. and phase n + 1 cannot complete without an arrival that follows that wait;
//   4. what makes the phase wait for more (an increment by cp.async.mbarrier.arrive, expect_tx)
//      precedes an arrival of the phase that the expected count stands for.
// To know is to have it in one's causal past: by waiting for the phase, or by another edge from who
// has.
#include "race/causality.hpp"

#include "base/check.hpp"

#include <bit>

namespace assay::race {
namespace {

constexpr const char* kArrival =
    "an arrival on an mbarrier may meet another phase in another schedule";
constexpr const char* kWait =
    "a wait for an mbarrier may ask about another phase in another schedule";
constexpr const char* kExpect =
    "a phase of an mbarrier may complete before all that it shall wait for is counted";

// The lane of a clock that stands for an object: 255 of each warp below kNamedBarriers.
constexpr uint32_t kLanes = 255, kMostObjects = kLanes * kNamedBarriers;

uint64_t key_of(uint32_t cta, const Mbarrier& b) {
  return lane_key(mbarriers_of(cta), b.number / kLanes, b.number % kLanes);
}

} // namespace

void Causality::mbarrier_init(uint32_t index, uint32_t offset) {
  CtaState& c = cta(index);
  auto [at, fresh] = c.mbarriers.try_emplace(offset);
  Mbarrier& b = at->second;
  if (fresh) b.number = uint32_t(c.mbarriers.size() - 1);
  CHECK(b.number < kMostObjects); // 8 bytes each: more than fit into shared memory
  uint32_t number = b.number, phase = fresh ? 0 : b.phase + 1;
  b = Mbarrier{};
  b.number = number;
  b.first = b.phase = phase;
}

bool Causality::knows_phase(const Observer& o, uint32_t lane, uint32_t index, const Mbarrier& b,
                            uint32_t phase) const {
  return ordered(o, lane, mbarriers_of(index), b.number / kLanes, b.number % kLanes, phase);
}

// The lanes by their times.
void Causality::marks(const CtaState& c, Agent agent, uint32_t lanes,
                      std::vector<Mbarrier::Mark>& to) const {
  const WarpState& w = c.warps[agent.warp];
  while (lanes) {
    uint32_t now = time(c, w, uint32_t(std::countr_zero(lanes))), same = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
      if (time(c, w, uint32_t(std::countr_zero(m))) == now) same |= m & (0u - m);
    lanes &= ~same;
    if (!to.empty() && to.back().warp == agent.warp && to.back().time == now)
      to.back().lanes |= same;
    else
      to.push_back({agent.warp, same, now});
  }
}

// What the lanes know and did, as a release by each of them.
void Causality::publish_lanes(CtaState& c, Agent agent, uint32_t lanes, ClockBuilder& out) {
  WarpState& w = c.warps[agent.warp];
  out.add(c.clock);
  out.add(w.clock);
  out.add(cta_key(agent.cta), c.floor);
  out.add(warp_key(agent.cta, agent.warp), w.floor);
  bool whole = lanes == warp_lanes(c, agent.warp) && uniform(c, w);
  if (whole) out.add(warp_key(agent.cta, agent.warp), time(c, w, 0) + 1);
  for (uint32_t m = lanes; m; m &= m - 1) {
    uint32_t l = uint32_t(std::countr_zero(m));
    if (w.lanes) out.add((*w.lanes)[l].clock);
    if (!whole) out.add(lane_key(agent.cta, agent.warp, l), time(c, w, l) + 1);
  }
}

void Causality::mbarrier_arrive(Agent agent, uint32_t lanes, uint32_t offset, bool release) {
  CtaState& c = cta(agent.cta);
  Mbarrier& b = c.mbarriers[offset];
  Observer o = observer(c, agent.cta, agent.warp);
  if (b.phase > b.first)
    for (uint32_t m = lanes; m && !doubt_; m &= m - 1)
      if (!knows_phase(o, uint32_t(std::countr_zero(m)), agent.cta, b, b.phase - 1))
        doubt_ = kArrival;
  if (!release) return;
  ClockBuilder all;
  publish_lanes(c, agent, lanes, all);
  ClockRef published = all.take();
  b.arriving = merge(b.arriving, published);
  b.counted = merge(b.counted, published);
  bump(c, agent.warp, lanes);
}

void Causality::mbarrier_expect(Agent agent, uint32_t lane, uint32_t offset) {
  CtaState& c = cta(agent.cta);
  Mbarrier& b = c.mbarriers[offset];
  if (b.phase > b.first && !doubt_ &&
      !knows_phase(observer(c, agent.cta, agent.warp), lane, agent.cta, b, b.phase - 1))
    doubt_ = kArrival;
  marks(c, agent, 1u << lane, b.expects);
}

void Causality::mbarrier_complete(uint32_t index, uint32_t offset) {
  CtaState& c = cta(index);
  Mbarrier& b = c.mbarriers[offset];
  auto follow = [&](const std::vector<Mbarrier::Mark>& marks, const ClockRef& arrivals) {
    for (const Mbarrier::Mark& m : marks)
      for (uint32_t l = m.lanes; l; l &= l - 1)
        if (!arrivals || arrivals->known(index, m.warp, uint32_t(std::countr_zero(l))) <= m.time)
          return false;
    return true;
  };
  if (!doubt_ && !follow(b.waits, b.arriving)) doubt_ = kWait;
  if (!doubt_ && !follow(b.expects, b.counted)) doubt_ = kExpect;
  b.waits.clear();
  b.expects.clear();
  ClockBuilder all;
  all.add(std::exchange(b.arriving, ClockRef()));
  all.add(key_of(index, b), b.phase + 1);
  b.completed = all.take();
  b.counted = ClockRef();
  b.completed_copies.insert(b.completed_copies.end(), b.copies.begin(), b.copies.end());
  b.copies.clear();
  ++b.phase;
}

bool Causality::mbarrier_waited(Agent agent, uint32_t lanes, uint32_t offset, bool acquire) {
  CtaState& c = cta(agent.cta);
  Mbarrier& b = c.mbarriers[offset];
  Observer o = observer(c, agent.cta, agent.warp);
  bool known = true; // to all of the lanes, without asking
  for (uint32_t m = lanes; m && known && b.phase > b.first; m &= m - 1)
    known = knows_phase(o, uint32_t(std::countr_zero(m)), agent.cta, b, b.phase - 1);
  if (b.phase >= b.first + 2)
    for (uint32_t m = lanes; m && !doubt_; m &= m - 1)
      if (!knows_phase(o, uint32_t(std::countr_zero(m)), agent.cta, b, b.phase - 2)) doubt_ = kWait;
  marks(c, agent, lanes, b.waits);
  if (!acquire || b.phase == b.first) return known;
  for (uint32_t number : b.completed_copies) mark_joined(c, number);
  b.completed_copies.clear();
  WarpState& w = c.warps[agent.warp];
  if ((lanes | w.exited) == warp_lanes(c, agent.warp)) {
    w.clock = merge(w.clock, b.completed);
    c.fine = true;
    return known;
  }
  for (uint32_t m = lanes; m; m &= m - 1)
    join(c, agent.warp, uint32_t(std::countr_zero(m)), b.completed);
  return known;
}

void Causality::copy_arrives(Agent issuer, uint32_t lane, uint32_t number,
                             const std::vector<uint32_t>& tracked) {
  CtaState& c = cta(issuer.cta);
  if (c.copy_arrivals.empty()) c.copy_arrivals.resize(c.warps.size());
  uint32_t arrival = c.copy_arrivals[issuer.warp][lane]++;
  CopyGroup* own = copies(issuer.cta, number / 32);
  CHECK(own && number % 32 == lane);
  own->lanes[lane].arrival = arrival;
  own->lanes[lane].tracked = tracked;
  own->lanes[lane].joins.push_back({issuer.warp, lane, arrival, true});
  for (uint32_t copy : tracked)
    if (CopyGroup* group = copies(issuer.cta, copy / 32))
      group->lanes[copy % 32].joins.push_back({issuer.warp, lane, arrival, true});
}

void Causality::mbarrier_copy_arrived(uint32_t index, uint32_t number, uint32_t offset,
                                      bool counted) {
  CtaState& c = cta(index);
  Mbarrier& b = c.mbarriers[offset];
  const CopyLane& copy = copies(index, number / 32)->lanes[number % 32];
  Observer o = observer(c, index, number / 32, copy);
  if (b.phase > b.first && !doubt_ && !knows_phase(o, number % 32, index, b, b.phase - 1))
    doubt_ = kArrival;
  ClockBuilder all;
  all.add(copy.start.clock());
  all.add(lane_key(arrivals_of(index), copy.start.warp, copy.start.lane), copy.arrival + 1);
  ClockRef published = all.take();
  b.arriving = merge(b.arriving, published);
  if (counted) b.counted = merge(b.counted, published);
  b.copies.push_back(number);
  b.copies.insert(b.copies.end(), copy.tracked.begin(), copy.tracked.end());
}

} // namespace assay::race
