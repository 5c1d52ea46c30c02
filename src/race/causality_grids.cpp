// Launches that may overlap: whole grids before each other (row h of docs/concurrency.md §1). A
// grid is an agent in clocks, whose time is 1 when it has ended: who knows that knows all that its
// CTAs did, and what they knew of other grids.
#include "race/causality.hpp"

#include "base/check.hpp"

#include <algorithm>
#include <bit>

namespace assay::race {

uint32_t Causality::find_grid(uint32_t cta) const {
  auto after = std::upper_bound(grids_.begin(), grids_.end(), cta,
                                [](uint32_t c, const Grid& g) { return c < g.first; });
  return uint32_t(after - grids_.begin()) - 1;
}

void Causality::grid_begin(uint32_t grid, const std::vector<uint32_t>& behind) {
  ClockBuilder all;
  for (uint32_t other : behind) {
    CHECK(grids_[other].ended);
    all.add(grids_[other].known);
  }
  grids_[grid].start = all.take();
}

// What its lanes and warps knew of other grids; of its own the grid's end says it.
void Causality::leave_knowledge(const CtaState& c, uint32_t cta) {
  Grid& grid = grids_[grid_of(cta)];
  ClockBuilder all;
  all.add(grid.known);
  all.add(grid.start);
  auto add = [&](const ClockRef& clock) {
    if (!clock || clock == grid.start || clock == grid.known) return;
    for (const ClockEntry& e : clock->entries()) {
      const uint32_t other = uint32_t(e.key >> 16);
      if (other >= ctas() || find_grid(other) != uint32_t(&grid - grids_.data()))
        all.add(e.key, e.time);
    }
  };
  add(c.clock);
  for (const WarpState& w : c.warps) {
    add(w.clock);
    if (w.lanes)
      for (const LaneState& l : *w.lanes) add(l.clock);
  }
  grid.known = all.take();
}

void Causality::grid_end(uint32_t grid) {
  ClockBuilder all;
  all.add(grids_[grid].known);
  all.add(cta_key(grid_agent(grid)), 1);
  grids_[grid].known = all.take();
  grids_[grid].ended = true;
}

void Causality::grid_waited(Agent agent, uint32_t lanes, uint32_t grid) {
  CHECK(grids_[grid].ended);
  CtaState& c = cta(agent.cta);
  for (; lanes; lanes &= lanes - 1)
    join(c, agent.warp, uint32_t(std::countr_zero(lanes)), grids_[grid].known);
}

bool Causality::ended_before(const Observer& o, uint32_t lane, uint32_t cta) const {
  if (cta >= ctas()) return false; // no threads: an object's phases
  const uint32_t grid = find_grid(cta);
  if (!grids_[grid].ended) return false;
  for (const Clock* clock :
       {o.cta_clock(), o.warp_clock(), lane < kNoLane ? o.lane_clock(lane) : nullptr})
    if (clock && clock->known_cta(grid_agent(grid))) return true;
  return false;
}

} // namespace assay::race
