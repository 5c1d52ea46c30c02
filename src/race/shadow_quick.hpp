// The usual cases of Shadow::take, inlined into the detector's front: nothing to judge because
// barriers or program order say so, and a record to extend or to begin. Whatever is not plain is
// left to judge() and insert(); both ways must come to the same records.
#pragma once

#include "race/shadow.hpp"

namespace assay::race {

// The usual reasons why nothing need be judged: ordered by a barrier or a warp sync, or by program
// order lane by lane.
inline bool plainly_ordered(const Record& e, const Access& n) {
  const Record& r = n.record;
  if (((e.attributes | r.attributes) & (kNonCoherent | kCopy)) || e.cta != r.cta) return false;
  if (e.time < n.observer.cta_floor) return true;
  if (e.warps != r.warps) return false;
  if (e.time < n.observer.warp_floor) return true;
  constexpr uint16_t kShape = kAffine | 31u << kBytesShift;
  if ((e.attributes ^ r.attributes) & kShape) return false;
  if (r.affine()) return e.start == r.start;
  return e.lanes == r.lanes && (r.lanes & (r.lanes - 1)) == 0 && !e.many;
}

inline bool Shadow::quick_insert(RecordPool& pool, uint32_t& head, Row& row, const Record& r) {
  for (uint32_t i = head; i; i = pool[i].next) {
    Record& e = pool[i];
    if (e.pc != r.pc || e.start != r.start || e.attributes != r.attributes) continue;
    if (e.cta != r.cta || e.time != r.time || e.change < row.change ||
        ((r.attributes & (kWrite | kSilent)) == kWrite) || r.copy())
      return false;
    if (e.many)
      pool.extend(e, r);
    else if (e.lanes == r.lanes)
      e.warps |= r.warps;
    else if (e.warps == r.warps)
      e.lanes |= r.lanes;
    else if (!r.affine())
      pool.unite(e, r);
    else
      return false;
    e.change = r.change;
    return true;
  }
  if (bytes_ > limit_) return false;
  if (r.changing()) row.change = r.change;
  uint32_t next = head;
  head = pool.add(r);
  pool[head].next = next;
  return true;
}

inline bool Shadow::quick(const Place& p, const Access& access) {
  Row& row = *p.row;
  const Record& r = access.record;
  Store& store = *p.region->store;
  auto calm = [&](uint32_t head) {
    for (uint32_t i = head; i; i = store.records[i].next)
      if (!plainly_ordered(store.records[i], access)) return false;
    return true;
  };
  bool write = r.write();
  if (!calm(row.writes) || (write && !calm(row.reads))) return false;
  if (r.affine()) {
    if (row.live_cells && (write || row.cell_writes)) return false;
    return quick_insert(store.records, write ? row.writes : row.reads, row, r);
  }
  if (!row.live_cells || uint32_t(r.bytes()) != 1u << row.granule_bits) return false;
  Cell& cell = store.cells.at(row.cells)[uint32_t(r.start) >> row.granule_bits];
  if (!calm(cell.writes) || (write && !calm(cell.reads))) return false;
  if (!quick_insert(store.records, write ? cell.writes : cell.reads, row, r)) return false;
  row.cell_writes |= write;
  return true;
}

} // namespace assay::race
