// The conflicts that the runs of one job have shown: which belong together, and what became of
// each.
#pragma once

#include "explore/explore.hpp"

#include <map>
#include <tuple>

namespace assay::explore {

struct Pair {          // a conflict seen in some run
  uint32_t launch = 0; // the first of those that may overlap; the conflict's sides count from there
  race::Conflict conflict;
  std::string policy;
  std::vector<vgpu::Arm> arms; // of the run that showed it
  schedule::Trace trace;
  Digest outcome;
  bool completed = false; // did that run end?
  bool value_race = false, reversed = false, tried = false;
  bool differs = false;                         // the other order left other bytes
  race::Distance widest = race::Distance::warp; // of the first: of all, those not kept among them
  bool unwritten = false;                       // one of the two reads what nobody has written
  bool missed = false;                          // the other order: the read missed the write
  std::vector<Difference> differing;
  schedule::Trace other_trace;
  Digest other;
  std::vector<race::Conflict> other_races; // of an order conflict: what raced in that run

  bool is_order() const { return conflict.kind == race::Conflict::Kind::order; }
};

class Pairs {
public:
  explicit Pairs(const vgpu::JobSpec& job) : job_(job) {}

  // Adds the conflicts of a run under `policy` with these accesses held back. True: one of them is
  // a race.
  bool take(const vgpu::Outcome& out, const std::string& policy,
            const std::vector<vgpu::Arm>& arms = {});

  // Adds the pair of a read that missed a write, which made the difference between two runs.
  void blame(const vgpu::Outcome::MissedRead& missed, const std::string& policy,
             const schedule::Trace& usual_trace, const Digest& usual, const schedule::Trace& trace,
             const Digest& outcome, const std::vector<Difference>& differing);

  // For each two operations in conflict up to eight instances, four of them of one value, in the
  // order in which they were seen.
  std::vector<std::vector<Pair>>& list() { return list_; }

  // Is there a conflict that one order does not settle? Equal values stored by lanes of one
  // instruction, and integer updates that commute, leave the same bytes in any order.
  bool unsettled() const;
  // Has a run shown a conflict of the same operations?
  bool knows(const Pair& p) const { return index_.contains(key_of(p.launch, p.conflict)); }
  // Is one of them between two lanes of a warp?
  bool within_warp() const { return within_warp_; }
  // Can the order of some conflict change anything? Not where all are strong writes of equal bits.
  bool at_stake() const;
  // Are both atomic updates of a kind that commutes?
  bool commuting(const Pair& p) const;
  bool commuting(uint32_t launch, const race::Conflict& c) const; // `launch` as in Pair

  // Are the two outcomes of this order conflict those of some race's two orders? Turning the one
  // round then turned the other round too, and it is the race that makes the difference.
  bool is_race_of(const Pair& order) const;
  // Did a race that does harm happen when this order conflict went the other way? Then the other
  // outcome is the race's doing.
  bool is_behind_race(const Pair& order) const;

private:
  // A conflict's identity across runs: launch, whether a mere order, the two operations, space.
  using Operation = std::pair<uint32_t, uint32_t>; // launch, pc
  using Key = std::tuple<bool, Operation, Operation, race::Space>;
  static Key key_of(uint32_t launch, const race::Conflict& c);

  const vgpu::JobSpec& job_;
  std::map<Key, size_t> index_; // in list_
  std::vector<std::vector<Pair>> list_;
  bool within_warp_ = false;
};

// The most telling instance of one pair, which speaks for all.
const Pair& most_telling(const std::vector<Pair>& instances);
// How far apart the agents of any of them are.
race::Distance reach(const std::vector<Pair>& instances);

} // namespace assay::explore
