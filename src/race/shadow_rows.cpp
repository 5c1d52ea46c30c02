// Judging and keeping accesses in one row; see shadow.hpp.
#include "race/shadow_quick.hpp"

#include <algorithm>

namespace assay::race {
namespace {

constexpr uint32_t kManyAlike = 16; // records of one key in a list before exactness of kind yields

bool same_key(const Record& a, const Record& b) {
  return a.pc == b.pc && a.attributes == b.attributes && a.start == b.start && a.cta == b.cta &&
         !a.copy();
}

// The largest floor of the CTA that is at most `time`: what is below it was ordered before `time`.
uint32_t floor_at(const CtaState& cta, uint32_t time) {
  if (time >= cta.floor) return cta.floor;
  auto it = std::upper_bound(cta.floors.begin(), cta.floors.end(), time);
  return it == cta.floors.begin() ? 0 : *(it - 1);
}

class View final : public RowView {
public:
  View(const Shadow& shadow, const Place& place) : shadow_(shadow), place_(place) {}
  uint32_t last_change(int byte) const override {
    return shadow_.last_change(place_, byte, byte + 1);
  }
  uint32_t lanes(const Record& record, uint32_t warp) const override {
    return place_.region->store->records.lanes(record, warp);
  }

private:
  const Shadow& shadow_;
  const Place& place_;
};

struct Range {
  uint32_t first, end; // cells
};
Range cells_of(const Row& row, const Record& r) {
  uint32_t bits = row.granule_bits;
  return {uint32_t(r.first_byte()) >> bits, (uint32_t(r.end_byte() - 1) >> bits) + 1};
}

} // namespace

// At least 1, so that a record marked as changed (0) is never taken for unchanged.
uint32_t Shadow::last_change(const Place& p, int from, int to) const {
  const RecordPool& pool = p.region->store->records;
  uint32_t last = 1;
  auto look = [&](uint32_t head) {
    for (uint32_t i = head; i; i = pool[i].next)
      if (pool[i].changing() && pool[i].change > last && pool[i].lanes_at(from, to))
        last = pool[i].change;
  };
  look(p.row->writes);
  if (p.row->cell_writes) {
    const Cell* cells = p.region->store->cells.at(p.row->cells);
    uint32_t bits = p.row->granule_bits;
    for (uint32_t c = uint32_t(from) >> bits; c <= uint32_t(to - 1) >> bits; ++c)
      look(cells[c].writes);
  }
  return last;
}

void Shadow::judge_list(uint32_t head, const Place& p, Judge& judge, const Access& access) const {
  const RecordPool& pool = p.region->store->records;
  for (uint32_t i = head; i; i = pool[i].next)
    if (!plainly_ordered(pool[i], access)) judge.judge(pool[i], access, View(*this, p));
}

void Shadow::judge(const Place& p, Judge& judge, const Access& access) {
  const Row& row = *p.row;
  bool write = access.record.write();
  judge_list(row.writes, p, judge, access);
  if (write) judge_list(row.reads, p, judge, access);
  if (!row.live_cells || !(write || row.cell_writes)) return;
  const Cell* cells = p.region->store->cells.at(row.cells);
  Range range = cells_of(row, access.record);
  for (uint32_t c = range.first; c < range.end; ++c) {
    judge_list(cells[c].writes, p, judge, access);
    if (write) judge_list(cells[c].reads, p, judge, access);
  }
}

void Shadow::insert(const Place& p, const Record& record, const CtaState& cta) {
  Row& row = *p.row;
  if (bytes_ > limit_) overflowed_ = true;
  if (overflowed_) return;
  if (record.changing()) row.change = record.change;
  if (record.affine()) return insert_in(record.write() ? row.writes : row.reads, p, record, cta);
  cells_for(p, record);
  row.cell_writes |= record.write();
  Range range = cells_of(row, record);
  for (uint32_t c = range.first; c < range.end; ++c) {
    Cell* cell = p.region->store->cells.at(row.cells) + c;
    insert_in(record.write() ? cell->writes : cell->reads, p, record, cta);
  }
}

// Makes the row's cells fine enough for the record.
void Shadow::cells_for(const Place& p, const Record& record) {
  Row& row = *p.row;
  CellPool& cells = p.region->store->cells;
  uint32_t ends = uint32_t(record.first_byte()) | uint32_t(record.end_byte());
  if (!row.live_cells) {
    if (!row.cells) row.cells = cells.add(row.granule_bits);
    std::fill_n(cells.at(row.cells), CellPool::cells_of(row.granule_bits), Cell{});
    row.live_cells = true;
  }
  if (ends & ((1u << row.granule_bits) - 1)) refine(p, ends & 1 ? 0 : 1);
}

// Every finer cell gets its own copy of the records of the cell that it was part of.
void Shadow::refine(const Place& p, uint32_t granule_bits) {
  Row& row = *p.row;
  CellPool& cells = p.region->store->cells;
  RecordPool& pool = p.region->store->records;
  uint32_t fine = cells.add(granule_bits), shift = row.granule_bits - granule_bits;
  auto copy = [&](uint32_t head) {
    uint32_t first = kNoRecord, last = kNoRecord;
    for (uint32_t i = head; i; i = pool[i].next) {
      Record r = pool[i];
      r.next = kNoRecord;
      pool.own_table(r);
      uint32_t added = pool.add(r);
      (last ? pool[last].next : first) = added;
      last = added;
    }
    return first;
  };
  for (uint32_t c = 0; c < CellPool::cells_of(granule_bits); ++c) {
    Cell from = cells.at(row.cells)[c >> shift];
    bool moves = (c & ((1u << shift) - 1)) == 0; // the first one takes the list itself
    cells.at(fine)[c] = moves ? from : Cell{copy(from.writes), copy(from.reads)};
  }
  cells.release(row.cells, row.granule_bits);
  row.cells = fine;
  row.granule_bits = uint8_t(granule_bits);
}

void Shadow::insert_in(uint32_t& head, const Place& p, const Record& record, const CtaState& cta) {
  uint32_t same = 0;
  if (merge_in(head, p, record, cta, same)) return;
  RecordPool& pool = p.region->store->records;
  Record r = record;
  r.next = head;
  head = pool.add(r);
  if (same >= kManyAlike) compact(head, p, record, cta);
}

// Lets `into`, the older of two records of one key, stand for both where that loses nothing: any
// later access that is unordered with the one is unordered with the other, at one distance.
bool Shadow::absorb(RecordPool& pool, Record& into, Record& record, const CtaState& cta) const {
  if (into.time == record.time) {
    bool plain = !into.many && !record.many;
    if (plain && into.lanes == record.lanes)
      into.warps |= record.warps;
    else if (plain && into.warps == record.warps)
      into.lanes |= record.lanes;
    else if (!into.affine())
      pool.unite(into, record);
    else
      return false;
    into.change = std::max(into.change, record.change);
    pool.drop_table(record);
    return true;
  }
  if (into.time > record.time || !(subset(into.lanes, record.lanes) || !into.affine()))
    return false;
  bool same_agents = subset(into.warps, record.warps);
  for (uint32_t w = into.warps; w && same_agents; w &= w - 1) {
    uint32_t warp = uint32_t(std::countr_zero(w));
    same_agents = subset(pool.lanes(into, warp), pool.lanes(record, warp));
  }
  if (!same_agents && into.time >= floor_at(cta, record.time)) return false;
  pool.drop_table(into);
  uint32_t next = into.next;
  into = record;
  into.next = next;
  record.many = 0; // its table is now the other's
  return true;
}

// Has one write since changed all bytes of the record? What several changed between them does not
// count, nor what none did.
bool Shadow::changed(const Place& p, const Record& r) const {
  const RecordPool& pool = p.region->store->records;
  uint32_t in_cell = kNoRecord;
  if (!r.affine() && p.row->cell_writes)
    in_cell = p.region->store->cells.at(p.row->cells)[cells_of(*p.row, r).first].writes;
  for (uint32_t head : {in_cell, p.row->writes})
    for (uint32_t i = head; i; i = pool[i].next)
      if (pool[i].changing() && pool[i].change > r.change && covers(pool[i], r)) return true;
  return false;
}

// Joins the new record to one that says the same of bytes unchanged since, or puts it in the place
// of one that an older one can stand for, both changed since. Counts the records of its key. Of
// the same by CTAs that ended and published nothing, one for each state of the bytes is enough:
// nobody can tell their times apart.
bool Shadow::merge_in(uint32_t& head, const Place& p, const Record& record, const CtaState& cta,
                      uint32_t& same) {
  RecordPool& pool = p.region->store->records;
  Record* newest_changed = nullptr;
  const Record* forgotten[2] = {};
  uint32_t last = 0; // change of these bytes, once somebody asks: records of one key have the same
  auto unchanged = [&](const Record& r) {
    if (r.change >= p.row->change) return true;
    if (!last) last = last_change(p, record.first_byte(), record.end_byte());
    return r.change >= last;
  };
  uint32_t length = 0;
  for (uint32_t* link = &head; *link;) {
    uint32_t i = *link;
    Record& r = pool[i];
    link = &r.next;
    crowded_ |= ++length > kManyAlike && r.copy();
    if (r.pc != record.pc || r.attributes != record.attributes || r.start != record.start ||
        r.copy())
      continue;
    // Where many CTAs poll one location, nearly all records are others'.
    if (r.cta != record.cta && !causality_.forgotten(r.cta, record.cta)) continue;
    bool by_new = record.changing() && r.change != record.change && covers(record, r);
    bool still = !by_new && !(record.changing() && r.change != record.change) && unchanged(r);
    if (r.cta != record.cta) {
      if (!(still || by_new || changed(p, r))) continue;
      const Record*& other = forgotten[still];
      if (!other || (r.affine() && !subset(r.lanes, other->lanes))) {
        other = &r;
      } else {
        link = &head;
        while (*link != i) link = &pool[*link].next;
        *link = r.next;
        pool.release(i);
      }
      continue;
    }
    ++same;
    Record fresh = record;
    if (still && absorb(pool, r, fresh, cta)) return true;
    // A lane that spins on an atomic leaves one record, whatever others do to the bytes meanwhile:
    // its older accesses are ordered before the newer one. Lanes spin in groups that shrink.
    if (record.attributes & kAtomic && !r.many && !record.many && r.warps == record.warps &&
        std::has_single_bit(r.warps) && r.time <= record.time && r.lanes & record.lanes) {
      r.lanes &= ~record.lanes;
      if (r.lanes) continue;
      uint32_t next = r.next;
      r = record;
      r.next = next;
      return true;
    }
    if (still || !(by_new || changed(p, r))) continue;
    if (!newest_changed) {
      newest_changed = &r;
    } else if (absorb(pool, r, *newest_changed, cta)) {
      uint32_t next = newest_changed->next;
      *newest_changed = record;
      newest_changed->next = next;
      return true;
    }
  }
  return false;
}

// There are too many of one key, whose bytes were changed in part: joins them all the same; they
// then count as changed.
void Shadow::compact(uint32_t& head, const Place& p, const Record& record, const CtaState& cta) {
  RecordPool& pool = p.region->store->records;
  std::vector<uint32_t> alike; // newest first
  for (uint32_t i = head; i; i = pool[i].next)
    if (same_key(pool[i], record)) alike.push_back(i);
  for (size_t i = 0; i + 1 < alike.size(); ++i)
    for (size_t j = alike.size(); j-- > i + 1;) {
      uint32_t change = std::min(pool[alike[i]].change, pool[alike[j]].change);
      if (!absorb(pool, pool[alike[j]], pool[alike[i]], cta)) continue;
      pool[alike[j]].change = change;
      uint32_t* link = &head;
      while (*link != alike[i]) link = &pool[*link].next;
      *link = pool[alike[i]].next;
      pool.release(alike[i]);
      break;
    }
}

} // namespace assay::race
