// Who knows what: the lanes' clocks of one launch and the edges (a) to (f) of docs/concurrency.md
// §1 that raise them.
//
// A lane's time stands still until it publishes what it did (barrier, warp sync, release, fence,
// copy); what follows gets a larger time, so "below T" never covers it. Three levels keep the
// common cases in one comparison: `CtaState::floor` (all lanes of the CTA know everything of the
// CTA below it), `WarpState::floor` (the same within the warp), and sparse clocks for the rest.
#pragma once

#include "base/check.hpp"
#include "race/clock.hpp"
#include "race/detector.hpp"
#include "race/sync_variables.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

namespace assay::race {

// All that a lane knows at one moment, not yet written out as one clock.
struct Snapshot {
  uint32_t cta = 0, warp = 0, lane = 0;
  uint32_t cta_floor = 0, warp_floor = 0, time = 0;
  ClockRef cta_clock, warp_clock, lane_clock;
  ClockRef clock() const; // with what the lane itself did, up to `time`
};

// A fence's snapshot, to be published by later strong writes; written out at most once.
struct PendingRelease {
  bool valid = false;
  Scope scope = Scope::none;
  Snapshot at;
  ClockRef clock;
};

struct LaneState {
  ClockRef clock;
  PendingRelease narrow, wide; // by fences of cta or cluster scope, of gpu or sys scope
  PendingAcquire acquire;
  ChainRef joined; // a poll that finds nothing new need not look again
  size_t joined_count = 0;
  Scope joined_scope = Scope::none;
};

struct WarpState {
  uint32_t base = 0;  // no lane's time is less
  uint32_t floor = 0; // below: known by all lanes of the warp
  uint32_t top = 0;   // no entry of `own` is more
  uint32_t exited = 0;
  std::array<uint32_t, 32> own{}; // a lane's time where above base
  ClockRef clock;
  std::unique_ptr<std::array<LaneState, 32>> lanes; // where one of them needs it
};

// One lane's asynchronous copy: it knows what its issuer knew; others know it through those who
// joined it.
struct CopyLane {
  // Whoever knows what that lane did at that time knows the copy; by_arrival: whoever knows that
  // arrival (counted by `time`) of the lane's by cp.async.mbarrier.arrive.
  struct Join {
    uint32_t warp, lane, time;
    bool by_arrival = false;
  };
  Snapshot start;
  std::vector<Join> joins;
  uint32_t arrival = 0;          // of cp.async.mbarrier.arrive: which one of its lane's
  std::vector<uint32_t> tracked; // and the copies that it stands for
};

// The copies of one instruction.
struct CopyGroup {
  uint32_t issued = 0, joined = 0; // lanes
  bool tracked = false;            // some record of global memory refers to them
  std::array<CopyLane, 32> lanes;
};

// A named barrier at which lanes only arrive: what those of the phase that goes on knew and had
// done then; and of the phases before, when there was one with such lanes, which each warp took
// part in last without waiting for its end.
struct Arrivals {
  std::vector<uint32_t> lanes; // by warp; empty: none in this phase
  ClockRef known, performed;   // the latter as in CtaState
  uint32_t phases = 0;         // complete, of those with lanes that only arrived
  std::vector<uint32_t> left;  // by warp: a number of such phases, 0: none
};

// An mbarrier object: what the arrivals of its present phase publish, and what those who found the
// phase before it complete have learnt. Phases are counted through all initialisations.
struct Mbarrier {
  uint32_t number = 0; // among those of the CTA
  uint32_t first = 0;  // phase of the last initialisation
  uint32_t phase = 0;
  ClockRef arriving;  // what all arrivals of the phase publish
  ClockRef counted;   // the same of those that the expected count stands for
  ClockRef completed; // of the phase before
  struct Mark {       // what lanes did in this phase
    uint32_t warp, lanes, time;
  };
  std::vector<Mark> waits;                        // found the phase before complete
  std::vector<Mark> expects;                      // made the phase wait for more
  std::vector<uint32_t> copies, completed_copies; // whose arrivals belong to the phase, to the last
};

// Agents in clocks that are no threads: objects of a CTA (mbarriers by their number, and named
// barriers behind them), whose times are phases, and lanes as they
// arrive by cp.async.mbarrier.arrive, whose times count those arrivals.
constexpr uint32_t grid_agent(uint32_t grid) { return grid | 0x40000000u; } // 1: it has ended
constexpr uint32_t mbarriers_of(uint32_t cta) { return cta | 0x80000000u; }
constexpr uint32_t kNamedBarriers = 253; // their warp; the lane is the barrier's number
constexpr uint32_t arrivals_of(uint32_t cta) { return cta | 0xc0000000u; }

// Who makes the update, when, and what it publishes.
struct LateUpdate {
  Agent agent;
  uint32_t lane = 0;
  Moment by;
  Scope scope = Scope::none;
  bool store = false; // a plain store, which continues nothing
  std::vector<Contribution> published;
};

struct CtaState {
  uint32_t floor = 0;
  uint32_t top = 0;             // the largest time of any lane
  std::vector<uint32_t> floors; // every value of `floor`
  bool published = false;       // something that other CTAs may acquire
  bool fine = false;            // some warp or lane has a clock of its own
  ClockRef clock;
  ClockRef sc; // what fence.sc of its lanes published
  std::vector<WarpState> warps;
  uint32_t last_warp = 0xffffffff;                                 // lanes of the last of them
  std::unordered_map<uint32_t, std::unique_ptr<CopyGroup>> copies; // by number / 32
  // The floors that unjoined copies started from, ascending, and how many of each: what they know
  // of the CTA may end there.
  std::vector<std::pair<uint32_t, uint32_t>> unjoined;
  SyncVariables shared;
  Releases releases;
  std::unordered_map<uint32_t, Arrivals> arrivals; // by barrier
  std::vector<ClockRef> performed; // by lane: see Causality::perform(); empty: nothing
  std::unordered_map<uint32_t, Mbarrier> mbarriers;    // by offset
  std::vector<std::array<uint32_t, 32>> copy_arrivals; // by warp: of cp.async.mbarrier.arrive
};

// Whose knowledge decides while one access is judged: a warp's lanes, or one copy.
struct Observer {
  uint32_t cta = 0, warp = 0; // of a copy: its issuer
  uint32_t cta_floor = 0, warp_floor = 0;
  const CtaState* state = nullptr;
  const CopyLane* copy = nullptr; // its lane's, or one in the same state
  uint32_t copy_group = 0;

  const Clock* cta_clock() const { return copy ? copy->start.cta_clock.get() : state->clock.get(); }
  const Clock* warp_clock() const {
    return copy ? copy->start.warp_clock.get() : state->warps[warp].clock.get();
  }
  const Clock* lane_clock(uint32_t lane) const {
    if (copy) return copy->start.lane_clock.get();
    const auto& lanes = state->warps[warp].lanes;
    return lanes ? (*lanes)[lane].clock.get() : nullptr;
  }
};

class Causality {
public:
  Causality(const std::vector<LaunchShape>& grids, const Limits& limits);

  // causality_grids.cpp; see detector.hpp
  void grid_begin(uint32_t grid, const std::vector<uint32_t>& behind);
  void grid_end(uint32_t grid);
  void grid_waited(Agent agent, uint32_t lanes, uint32_t grid);
  uint32_t ctas() const { return uint32_t(ctas_.size()); }
  uint32_t grid_of(uint32_t cta) const { return grids_.size() == 1 ? 0 : find_grid(cta); }
  // Does the observer's warp (or also that lane of it) know that the CTA's grid, not its own, has
  // ended?
  static constexpr uint32_t kNoLane = 32;
  bool grid_known(const Observer& o, uint32_t lane, uint32_t cta) const {
    return grids_.size() > 1 && ended_before(o, lane, cta);
  }

  void cta_begin(uint32_t cta);
  void cta_end(uint32_t cta);
  CtaState& cta(uint32_t index) {
    CHECK(index < ctas_.size() && ctas_[index]);
    return *ctas_[index];
  }
  const CtaState* find(uint32_t index) const { return ctas_[index].get(); }
  // It ended and published nothing beyond itself: what orders it with what others still do is that
  // its grid, that of `beside`, has ended.
  bool forgotten(uint32_t index, uint32_t beside) const {
    return forgotten_[index] && grid_of(index) == grid_of(beside);
  }
  uint32_t warp_lanes(const CtaState& c, uint32_t warp) const { // which lanes exist
    return warp + 1 == c.warps.size() ? c.last_warp : 0xffffffff;
  }

  static uint32_t time(const CtaState& c, const WarpState& w, uint32_t lane) {
    return std::max({c.floor, w.base, w.own[lane]});
  }
  static bool uniform(const CtaState& c, const WarpState& w) {
    return w.top <= std::max(c.floor, w.base);
  }

  static Observer observer(const CtaState& c, uint32_t cta, uint32_t warp) {
    return {cta, warp, c.floor, c.warps[warp].floor, &c, nullptr, 0};
  }
  static Observer observer(const CtaState& c, uint32_t cta, uint32_t group, const CopyLane& copy) {
    return {cta, copy.start.warp, copy.start.cta_floor, copy.start.warp_floor, &c, &copy, group};
  }
  // Is what that lane did at `time` ordered before the observing lane's next access?
  bool ordered(const Observer& o, uint32_t lane, uint32_t cta, uint32_t warp, uint32_t from_lane,
               uint32_t time) const;
  // The same for what a copy did.
  bool copy_ordered(const Observer& o, uint32_t lane, uint32_t cta, uint32_t group,
                    uint32_t copy_lane) const;
  // Did an operation that is ordered before the lane's next access observe that strong write?
  bool observed(const Observer& o, uint32_t lane, Space space, uint64_t address, uint32_t bytes,
                const Moment& write) const;

  void arrives_again(Agent agent, uint32_t lanes, uint32_t number);
  void arrived(Agent agent, uint32_t lanes, uint32_t number);
  bool barrier(const Detector::BarrierPhase& phase); // true: it raised the CTA's floor
  // Below it everything is ordered before all that lanes and copies of the CTA still do.
  // And did every lane and copy learn of a copy by this join? (As of the CTA's last full barrier.)
  bool settled(const CtaState& c, uint32_t cta, const CopyLane::Join& join) const {
    if (!join.by_arrival) return join.time < dead_below(c);
    return c.unjoined.empty() && c.clock &&
           join.time < c.clock->known(arrivals_of(cta), join.warp, join.lane);
  }
  static uint32_t dead_below(const CtaState& c) {
    return c.unjoined.empty() ? c.floor : c.unjoined.front().first;
  }
  void warp_sync(Agent agent, uint32_t lanes);
  void exited(Agent agent, uint32_t lanes);
  void fence(Agent agent, uint32_t lanes, Detector::Fence fence, Scope scope);
  void copy_issue(Agent issuer, uint32_t lane, uint32_t number);
  void copy_joined(Agent waiter, uint32_t lane, uint32_t number);
  CopyGroup* copies(uint32_t cta, uint32_t group) const; // null when they concern nobody any more

  // causality_mbarrier.cpp; see detector.hpp
  void mbarrier_init(uint32_t cta, uint32_t offset);
  void mbarrier_arrive(Agent agent, uint32_t lanes, uint32_t offset, bool release);
  void mbarrier_expect(Agent agent, uint32_t lane, uint32_t offset);
  void mbarrier_complete(uint32_t cta, uint32_t offset);
  bool mbarrier_waited(Agent agent, uint32_t lanes, uint32_t offset, bool acquire);
  void copy_arrives(Agent issuer, uint32_t lane, uint32_t number,
                    const std::vector<uint32_t>& copies);
  void mbarrier_copy_arrived(uint32_t cta, uint32_t number, uint32_t offset, bool counted);
  const char* phase_doubt() const { return doubt_; }
  bool fences_met() const { return fences_met_; }

  // Where the next strong operations are, and of how many elements each: these are operations of
  // their own, in an order that nobody knows.
  void at(uint32_t pc, uint32_t elements) { pc_ = pc, elements_ = elements; }
  void elements(uint32_t n) { elements_ = n; }
  void write(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
             Detector::Order order, Scope scope);
  void read(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
            Detector::Order order, Scope scope);
  void read_modify_write(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                         Detector::Order order, Scope scope, bool reduction, bool wrote);
  // Reads that miss writes (causality_versions.cpp); see Detector.
  void replacing(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                 const void* before);
  uint32_t missable(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes) const;
  void missed(Space space, Agent agent, uint64_t address, uint8_t bytes, uint32_t back,
              uint8_t* value) const;
  const Moment& missed_write(Space space, Agent agent, uint64_t address, uint8_t bytes,
                             uint32_t back) const;
  void overtaken(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes);
  void missing_read(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                    Detector::Order order, Scope scope, uint32_t back);
  LateUpdate postpone(Agent agent, uint32_t lane, const Location& at, Detector::Order order,
                      Scope scope, bool store);
  bool precedes(const Moment& what, Agent agent, uint32_t lane) const;
  void late_update(Space space, uint64_t address, uint8_t bytes, const LateUpdate& update,
                   const void* before);
  // Lanes meet at a barrier: reads before it have been performed (causality_versions.cpp).
  void perform(uint32_t cta, const std::vector<uint32_t>& parts,
               const std::vector<uint32_t>& acquiring, const ClockRef& more);
  SyncVariables& variables(Space space, uint32_t cta_index) {
    return space == Space::shared ? cta(cta_index).shared : global_;
  }
  const SyncVariables& variables(Space space, uint32_t cta_index) const {
    return space == Space::shared ? ctas_[cta_index]->shared : global_;
  }

private:
  using Masks = std::vector<uint32_t>;
  template <class F> void each_element(uint64_t address, uint8_t bytes, F f) const {
    const uint8_t one = uint8_t(bytes / elements_);
    for (uint32_t k = 0; k < elements_; ++k) f(address + k * one, one, k);
  }
  void write_element(Space space, const Moment& now, uint64_t address, uint8_t bytes,
                     Detector::Order order, Scope scope);
  void read_element(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                    Detector::Order order, Scope scope);
  void update_element(Space space, const Moment& now, uint64_t address, uint8_t bytes,
                      Detector::Order order, Scope scope, bool reduction, bool wrote);
  uint32_t missable_element(const Versions& versions, Agent agent, uint32_t lane, uint64_t address,
                            uint8_t bytes) const;
  void missing_element(Space space, Agent agent, uint32_t lane, uint64_t address, uint8_t bytes,
                       Detector::Order order, Scope scope, uint32_t back);
  Versions::State state(uint64_t address, uint8_t bytes, uint32_t back) const;
  void performed(const CtaState& c, Agent agent, uint32_t lane, ClockBuilder& all) const;
  LaneState& lane_state(CtaState& c, WarpState& w, uint32_t lane);
  Snapshot snapshot(const CtaState& c, uint32_t cta, uint32_t warp, uint32_t lane) const;
  void bump(CtaState& c, uint32_t warp, uint32_t lanes); // published: later accesses differ
  void join(CtaState& c, uint32_t warp, uint32_t lane, const ClockRef& clock);
  bool full_barrier(const Detector::BarrierPhase& phase, const CtaState& c) const;
  void raise_floor(CtaState& c, uint32_t cta);
  void forget_copies(CtaState& c, uint32_t cta);
  void raise_warp(CtaState& c, uint32_t cta, uint32_t warp);
  void synchronise(uint32_t cta, const Masks& parts, const Masks& acquiring, const ClockRef& more);
  void give(CtaState& c, uint32_t warp, uint32_t lanes, const ClockRef& clock);
  void sc_fence(CtaState& c, Agent agent, uint32_t lanes, Scope scope, bool before);
  // What a strong write by the lane publishes: its own release, its fences' and that of its earlier
  // releases there.
  void publish(std::vector<Contribution>& out, CtaState& c, Agent agent, uint32_t lane,
               const Location& at, bool release, Scope scope);
  Contribution released(CtaState& c, Agent agent, uint32_t lane, const Location& at, Scope scope);
  Moment moment(const CtaState& c, Agent agent, uint32_t lane) const {
    return {agent.cta, uint16_t(agent.warp), uint16_t(lane), time(c, c.warps[agent.warp], lane),
            pc_};
  }
  void take(CtaState& c, Agent agent, uint32_t lane, const Location& at, ChainRef chain,
            bool acquire, Scope scope);
  // An update of the location continues its chain, or begins one.
  static void extend(SyncVariables& vars, uint64_t address, uint8_t bytes, ChainRef chain,
                     uint32_t cta, Scope scope, std::vector<Contribution> published);
  // What a strong write by that moment replaces, for reads that miss it.
  void remember(SyncVariables& vars, uint64_t address, uint8_t bytes, const void* before,
                const Moment& by);
  void mark_joined(CtaState& c, uint32_t number);
  bool knows_phase(const Observer& o, uint32_t lane, uint32_t cta, const Mbarrier& b,
                   uint32_t phase) const;
  void marks(const CtaState& c, Agent agent, uint32_t lanes, std::vector<Mbarrier::Mark>& to) const;
  void publish_lanes(CtaState& c, Agent agent, uint32_t lanes, ClockBuilder& out);

  const bool versions_, fence_order_;
  bool fences_met_ = false;
  uint32_t pc_ = 0, elements_ = 1; // of the strong operations that follow
  uint64_t stores_ = 0;            // for the numbers of versions
  struct Asked {                   // of a vector, by missable()
    uint64_t address = 0;
    std::vector<Versions::State> states;
  };
  mutable Asked asked_;
  struct Grid {
    uint32_t first = 0; // CTA
    LaunchShape shape;
    ClockRef start; // what its CTAs know when they begin
    ClockRef known; // what those that ended knew of other grids
    bool ended = false;
  };
  uint32_t find_grid(uint32_t cta) const;
  bool ended_before(const Observer& o, uint32_t lane, uint32_t cta) const;
  void leave_knowledge(const CtaState& c, uint32_t cta);

  std::vector<Grid> grids_;
  std::vector<std::unique_ptr<CtaState>> ctas_;
  std::vector<bool> forgotten_;
  SyncVariables global_;
  ClockRef sc_;                 // what fence.sc of gpu or sys scope published
  const char* doubt_ = nullptr; // about the phases of barriers and mbarriers
};

} // namespace assay::race
