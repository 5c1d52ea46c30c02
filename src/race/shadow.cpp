// Regions, pages and the death of records; see shadow.hpp.
#include "race/shadow.hpp"

#include "base/check.hpp"

#include <algorithm>

namespace assay::race {

void Shadow::track(uint64_t base, uint64_t bytes) {
  if (!bytes) return;
  auto r = std::make_unique<Region>();
  r->first_row = base / kRowBytes;
  r->base = base;
  r->end = base + bytes;
  r->pages.resize(((base + bytes - 1) / kRowBytes - r->first_row) / kPageRows + 1);
  r->store = &global_;
  auto at = std::upper_bound(regions_.begin(), regions_.end(), base,
                             [](uint64_t b, const auto& x) { return b < x->base; });
  CHECK(at == regions_.end() || r->end <= (*at)->base);
  CHECK(at == regions_.begin() || (*(at - 1))->end <= base);
  regions_.insert(at, std::move(r));
}

Region* Shadow::find_region(uint64_t address) {
  auto at = std::upper_bound(regions_.begin(), regions_.end(), address,
                             [](uint64_t a, const auto& x) { return a < x->base; });
  if (at == regions_.begin() || address >= (*(at - 1))->end) return nullptr;
  return recent_[address >> 40 & 15] = (at - 1)->get();
}

void Shadow::shared_begin(uint32_t cta, uint32_t bytes) {
  std::unique_ptr<Shared> s;
  if (idle_.empty()) {
    s = std::make_unique<Shared>(bytes_);
  } else {
    s = std::move(idle_.back());
    idle_.pop_back();
    ++s->generation;
    s->own.records.reset();
  }
  s->end = bytes;
  s->floor = 0;
  s->store = &s->own;
  uint64_t rows = bytes / kRowBytes + 1;
  if (s->row_count < rows) {
    bytes_ += (rows - s->row_count) * sizeof(Row);
    s->rows = std::make_unique<Row[]>(rows);
    s->row_count = rows;
    s->generation = 1; // new rows are of generation 0
  }
  shared_[cta] = std::move(s);
}

void Shadow::shared_end(uint32_t cta) {
  if (shared_[cta]) idle_.push_back(std::move(shared_[cta]));
}

void Shadow::shared_floor(uint32_t cta, uint32_t floor, bool empty) {
  Shared* s = shared_[cta].get();
  if (!s) return;
  s->floor = floor;
  if (!empty) return;
  ++s->generation;
  s->own.records.reset();
}

Row* Shadow::add_page(Region& region, uint64_t page) {
  if (overflowed_ || bytes_ + kPageRows * sizeof(Row) > limit_) {
    overflowed_ = true;
    return nullptr;
  }
  bytes_ += kPageRows * sizeof(Row);
  region.pages[page] = std::make_unique<Row[]>(kPageRows);
  return region.pages[page].get();
}

// The whole row is of a generation that is gone, and so are its records; its cell table stays.
void Shadow::renew(const Place& p) {
  Row& row = *p.row;
  row.writes = row.reads = kNoRecord;
  row.live_cells = row.cell_writes = false;
  row.change = 0;
  row.generation = p.region->generation;
  row.floor = p.region->floor;
}

namespace {
// Drops the dead of one list; returns the last change among the dropped.
template <class Dead> uint32_t drop(RecordPool& pool, uint32_t& head, Dead dead) {
  uint32_t last = 0;
  for (uint32_t* link = &head; *link;) {
    uint32_t i = *link;
    if (!dead(pool[i])) {
      link = &pool[i].next;
      continue;
    }
    if (pool[i].changing()) last = std::max(last, pool[i].change);
    *link = pool[i].next;
    pool.release(i);
  }
  return last;
}

// What a dropped write changed stays changed: 0 is before any change.
void mark_changed(RecordPool& pool, uint32_t head, uint32_t change) {
  for (uint32_t i = head; i; i = pool[i].next)
    if (pool[i].change < change) pool[i].change = 0;
}
} // namespace

// Drops records of the CTA that an access has overwritten after them: whatever is ordered behind
// the access is ordered behind them, and what is not conflicts with the access. Copies pile up so
// where no barrier of the whole CTA orders the rounds of a pipeline.
void Shadow::prune(const Place& p, const Judge& judge, const Access& access) {
  crowded_ = false;
  Row& row = *p.row;
  if (!access.record.write()) return;
  RecordPool& pool = p.region->store->records;
  auto dead = [&](const Record& r) {
    bool same = r.pc == access.record.pc && r.warps == access.record.warps &&
                r.time == access.record.time && r.copy() == access.record.copy();
    return r.copy() && !same && r.cta == access.record.cta && covers(access.record, r) &&
           judge.precedes(r, access);
  };
  uint32_t last = drop(pool, row.writes, dead);
  if (row.live_cells) {
    Cell* cells = p.region->store->cells.at(row.cells);
    for (uint32_t i = 0; i < CellPool::cells_of(row.granule_bits); ++i) {
      uint32_t change = drop(pool, cells[i].writes, dead);
      mark_changed(pool, cells[i].writes, change);
      mark_changed(pool, cells[i].reads, change);
      last = std::max(last, change);
    }
  }
  mark_changed(pool, row.writes, last);
  mark_changed(pool, row.reads, last);
}

void Shadow::filter(const Place& p, uint32_t cta) {
  Row& row = *p.row;
  RecordPool& pool = p.region->store->records;
  uint32_t floor = p.region->floor;
  const CtaState* state = causality_.find(cta);
  auto dead = [&](const Record& r) {
    if (!r.copy()) return r.time < floor;
    const CopyGroup* group = causality_.copies(cta, r.warps);
    for (uint32_t lanes = group ? r.lanes : 0; lanes; lanes &= lanes - 1) {
      const auto& joins = group->lanes[uint32_t(std::countr_zero(lanes))].joins;
      if (std::none_of(joins.begin(), joins.end(),
                       [&](auto& j) { return causality_.settled(*state, cta, j); }))
        return false;
    }
    return true;
  };
  row.floor = floor;
  uint32_t in_rows = drop(pool, row.writes, dead), in_cells = 0;
  drop(pool, row.reads, dead);
  if (row.live_cells) {
    Cell* cells = p.region->store->cells.at(row.cells);
    row.cell_writes = false;
    for (uint32_t i = 0; i < CellPool::cells_of(row.granule_bits); ++i) {
      uint32_t change = drop(pool, cells[i].writes, dead);
      drop(pool, cells[i].reads, dead);
      in_cells = std::max(in_cells, change);
      mark_changed(pool, cells[i].writes, std::max(change, in_rows));
      mark_changed(pool, cells[i].reads, std::max(change, in_rows));
      row.cell_writes |= cells[i].writes != kNoRecord;
    }
  }
  mark_changed(pool, row.writes, std::max(in_rows, in_cells));
  mark_changed(pool, row.reads, std::max(in_rows, in_cells));
}

} // namespace assay::race
