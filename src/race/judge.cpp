// Which pairs of accesses conflict, and how; see judge.hpp.
#include "race/judge.hpp"

#include <bit>

namespace assay::race {
namespace {

// Could a pair of these be a value race, the bytes being unchanged in between?
bool value_race_possible(const Record& earlier, const Record& later) {
  if (later.changing()) return false;
  return !earlier.changing() || !((earlier.attributes | later.attributes) & kRead);
}

// Do all pairs of lanes have the same answer to morally_strong?
bool one_answer(const Record& a, const Record& b) {
  return !(a.attributes & b.attributes & kStrong) || a.affine() == b.affine();
}

bool same_lanes_only(const Record& e, const Record& n) {
  if (e.cta != n.cta || e.copy() || n.copy() || e.warps != n.warps || e.many) return false;
  if (e.affine() != n.affine()) return false;
  if (e.affine()) return e.start == n.start && e.bytes() == n.bytes();
  return e.lanes == n.lanes && std::has_single_bit(n.lanes);
}
} // namespace

// Of two accesses that overlap. A vector's elements are operations of their own, and all aligned:
// those of one size overlap completely or not at all.
bool Judge::morally_strong(const Record& a, uint32_t lane_a, const Record& b,
                           uint32_t lane_b) const {
  if (!(a.attributes & b.attributes & kStrong)) return false;
  const int bytes = element_bytes(a);
  return bytes == element_bytes(b) && (a.lane_start(lane_a) - b.lane_start(lane_b)) % bytes == 0 &&
         mutual(unpack(0, a.attributes).scope, a.cta, unpack(0, b.attributes).scope, b.cta);
}

bool Judge::all_ordered(const Record& e, const Access& n) const {
  const Observer& o = n.observer;
  if (causality_.grid_known(o, Causality::kNoLane, e.cta)) return true;
  if (e.copy()) return false;
  if (e.cta == o.cta) {
    if (e.time < o.cta_floor) return true;
    if (e.warps == 1u << o.warp && e.time < o.warp_floor) return true;
  }
  for (uint32_t warps = e.warps; warps; warps &= warps - 1) {
    uint32_t w = std::countr_zero(warps);
    bool known = e.cta == o.cta && w == o.warp && e.time < o.warp_floor;
    for (const Clock* clock : {o.cta_clock(), o.warp_clock()})
      if (!known && clock) known = e.time < clock->known_warp(e.cta, w);
    if (!known) return false;
  }
  return true;
}

bool Judge::precedes(const Record& e, const Access& n) const {
  for (uint32_t lanes = n.record.lanes; lanes; lanes &= lanes - 1)
    for (uint32_t others = e.lanes; others; others &= others - 1)
      if (!causality_.copy_ordered(n.observer, uint32_t(std::countr_zero(lanes)), e.cta, e.warps,
                                   uint32_t(std::countr_zero(others))))
        return false;
  return true;
}

void Judge::judge(const Record& e, const Access& n, const RowView& view) {
  const Record& r = n.record;
  if (!((e.attributes | r.attributes) & kWrite)) return;
  if (e.first_byte() >= r.end_byte() || r.first_byte() >= e.end_byte()) return;
  bool nc = (e.attributes | r.attributes) & kNonCoherent;
  if (!nc && (all_ordered(e, n) || same_lanes_only(e, r))) return;
  bool one_kind = nc || (!value_race_possible(e, r) && one_answer(e, r));
  if (e.copy()) {
    judge_warp(e, 0, n, nc, one_kind, view);
    return;
  }
  uint32_t done = 0; // distances
  for (uint32_t warps = e.warps; warps; warps &= warps - 1) {
    uint32_t w = std::countr_zero(warps);
    uint32_t bit = 1u << uint32_t(distance(Access::agent_of(e, w, 0), n.agent(0)));
    if (one_kind && (done & bit)) continue;
    if (judge_warp(e, w, n, nc, one_kind, view)) done |= bit;
  }
}

bool Judge::judge_warp(const Record& e, uint32_t warp, const Access& n, bool nc, bool one_kind,
                       const RowView& view) {
  const Record& r = n.record;
  bool found = false;
  Record part = e; // the one warp's
  part.many = 0;
  if (!e.copy()) part.lanes = view.lanes(e, warp);
  for (uint32_t lanes = r.lanes; lanes; lanes &= lanes - 1) {
    uint32_t lane = std::countr_zero(lanes);
    int from = std::max(r.lane_start(lane), 0);
    int to = std::min(r.lane_start(lane) + r.bytes(), int(kRowBytes));
    if (from >= to) continue;
    for (uint32_t others = part.lanes_at(from, to); others; others &= others - 1) {
      uint32_t other = std::countr_zero(others);
      bool before = e.copy() ? causality_.copy_ordered(n.observer, lane, e.cta, e.warps, other)
                             : causality_.ordered(n.observer, lane, e.cta, warp, other, e.time);
      int low = std::max(from, e.lane_start(other));
      int high = std::min(to, e.lane_start(other) + e.bytes());
      const Pair pair{warp, other, lane, low, high};
      if (!nc && before) continue;
      found |= report_unobserved(e, n, pair, nc, view);
      if (found && one_kind) return true;
    }
  }
  return found;
}

// Strong writes that were observed are ordered before what follows the observer. Asked last, and
// not of morally strong pairs: their order is explored either way. Of a vector, each element is a
// write of its own.
bool Judge::report_unobserved(const Record& e, const Access& n, const Pair& pair, bool nc,
                              const RowView& view) {
  constexpr uint16_t kStrongWrite = kStrong | kWrite;
  if (nc || (e.attributes & kStrongWrite) != kStrongWrite ||
      morally_strong(e, pair.earlier_lane, n.record, pair.lane)) {
    report(e, n, pair, nc, view);
    return true;
  }
  const Moment write{e.cta, uint16_t(pair.warp), uint16_t(pair.earlier_lane), e.time, e.pc};
  const int start = e.lane_start(pair.earlier_lane), bytes = element_bytes(e);
  bool found = false;
  for (int at = start; at < start + e.bytes(); at += bytes) {
    if (at >= pair.to || at + bytes <= pair.from ||
        causality_.observed(n.observer, pair.lane, n.space, n.row_address + uint64_t(int64_t(at)),
                            uint32_t(bytes), write))
      continue;
    Pair part = pair;
    part.from = std::max(part.from, at);
    part.to = std::min(part.to, at + bytes);
    report(e, n, part, nc, view);
    found = true;
  }
  return found;
}

void Judge::report(const Record& e, const Access& n, const Pair& pair, bool nc,
                   const RowView& view) {
  if (!nc && morally_strong(e, pair.earlier_lane, n.record, pair.lane)) {
    const uint32_t change = view.last_change(pair.from);
    const bool same =
        value_race_possible(e, n.record) && e.change >= change && change != UINT32_MAX;
    const Stake stake = n.record.changing() ? Stake::bytes : same ? Stake::none : Stake::values;
    return emit(Conflict::Kind::order, e, n, pair, stake);
  }
  if (nc || !value_race_possible(e, n.record)) return emit(Conflict::Kind::race, e, n, pair);
  // Runs of bytes that some write changed in between, and of bytes that none did.
  for (int from = pair.from; from < pair.to;) {
    auto unchanged = [&](int byte) {
      uint32_t change = view.last_change(byte);
      return e.change >= change && change != UINT32_MAX;
    };
    bool value = unchanged(from);
    int to = from + 1;
    while (to < pair.to && unchanged(to) == value) ++to;
    emit(value ? Conflict::Kind::value_race : Conflict::Kind::race, e, n,
         {pair.warp, pair.earlier_lane, pair.lane, from, to});
    from = to;
  }
}

void Judge::emit(Conflict::Kind kind, const Record& e, const Access& n, const Pair& pair,
                 Stake stake) {
  Agent earlier = Access::agent_of(e, pair.warp, pair.earlier_lane);
  Agent later = n.agent(pair.lane);
  const uint32_t grids[] = {causality_.grid_of(e.cta), causality_.grid_of(n.record.cta)};
  if (conflicts_.enough(kind, {e.pc, grids[0]}, {n.record.pc, grids[1]}, n.space,
                        distance(earlier, later), stake))
    return;
  Conflict c;
  c.kind = kind;
  c.first = {earlier, pair.earlier_lane, unpack(e.pc, e.attributes), e.time, grids[0]};
  c.second = {later, pair.lane, unpack(n.record.pc, n.record.attributes), n.record.time, grids[1]};
  c.first.info.elements = uint8_t(e.bytes() / element_bytes(e));
  c.second.info.elements = uint8_t(n.record.bytes() / element_bytes(n.record));
  c.space = n.space;
  c.space_cta = n.space_cta;
  c.address = n.row_address + uint32_t(pair.from);
  c.bytes = uint32_t(pair.to - pair.from);
  c.stake = stake;
  conflicts_.add(c);
}

void Judge::same_instruction(const Access& n, uint32_t lane, uint32_t other, uint64_t address,
                             bool differ) {
  AccessInfo info = unpack(n.record.pc, n.record.attributes);
  const uint32_t grid = causality_.grid_of(n.record.cta);
  const Conflicts::Operation operation{info.pc, grid};
  if (info.strong && conflicts_.enough(Conflict::Kind::order, operation, operation, n.space,
                                       Distance::warp, differ ? Stake::bytes : Stake::none))
    return;
  Conflict c;
  c.kind = info.strong ? Conflict::Kind::order
           : differ    ? Conflict::Kind::same_instruction
                       : Conflict::Kind::value_race;
  c.first = {n.agent(lane), lane, info, n.record.time, grid};
  c.second = {n.agent(other), other, info, n.record.time, grid};
  c.space = n.space;
  c.space_cta = n.space_cta;
  c.address = address;
  c.bytes = info.bytes;
  c.stake = differ ? Stake::bytes : Stake::none;
  conflicts_.add(c);
}

} // namespace assay::race
