// Shadow memory: for every touched row of 128 bytes, the records of the accesses to it.
//
// Accesses by a whole warp at base + lane·size are one record in each row they touch; single
// locations are kept in cells of 4 bytes, or of 2 or 1 where smaller accesses need them. Nothing is
// ever lost: a record goes only when another one stands for it in every future conflict (same pc
// and attributes, ordered after it: insert()), or when all that can still touch the row is ordered
// after it (shared memory at a full barrier: filter(), or all at once by generation).
#pragma once

#include "race/judge.hpp"
#include "race/store.hpp"

#include <memory>
#include <vector>

namespace assay::race {

struct alignas(32) Row {                          // never in two cache lines
  uint32_t writes = kNoRecord, reads = kNoRecord; // affine accesses, newest first
  uint32_t cells = 0;                             // single locations; an index of CellPool
  uint32_t change = 0;                            // last change counter of any byte
  uint32_t generation = 0;                        // of the region, when last touched
  uint32_t floor = 0;                             // of the region, when last filtered
  uint8_t granule_bits = 2;
  bool live_cells = false;  // the table's contents belong to this generation
  bool cell_writes = false; // some live cell has a write
};
static_assert(sizeof(Row) == 32);

// One tracked buffer, or the shared memory of one CTA.
struct Region {
  uint64_t first_row = 0, base = 0, end = 0;
  std::vector<std::unique_ptr<Row[]>> pages; // global memory: null until touched
  std::unique_ptr<Row[]> rows;               // shared memory
  Store* store = nullptr;
  // Shared memory: records of older generations, and those below the floor, are dead.
  uint32_t generation = 0, floor = 0;
};

struct Place {
  Region* region = nullptr;
  Row* row = nullptr;
};

class Shadow {
public:
  Shadow(const Causality& causality, uint32_t ctas, uint64_t limit)
      : causality_(causality), limit_(limit), shared_(ctas) {}
  void track(uint64_t base, uint64_t bytes);
  void shared_begin(uint32_t cta, uint32_t bytes);
  void shared_end(uint32_t cta);
  // What the CTA's lanes and copies did below `floor` is ordered before all that they still do;
  // empty: nothing else has been recorded.
  void shared_floor(uint32_t cta, uint32_t floor, bool empty);

  Region* region(Space space, uint32_t cta, uint64_t address) {
    return space == Space::shared ? shared_[cta].get() : global_region(address);
  }
  // The row of an address, null where nothing is tracked or memory is spent.
  Row* row(Region* r, uint64_t address) {
    if (!r || address < r->base || address >= r->end) return nullptr;
    uint64_t index = address / kRowBytes - r->first_row;
    if (r->rows) return r->rows.get() + index;
    Row* page = r->pages[index / kPageRows].get();
    if (!page && !(page = add_page(*r, index / kPageRows))) return nullptr;
    return page + index % kPageRows;
  }
  // The same where neither the region has to be looked for nor the row to be made; else null.
  Row* known_row(Region*& r, uint64_t address) {
    if (!r) r = recent_[address >> 40 & 15];
    if (!r || address < r->base || address >= r->end) return nullptr;
    uint64_t index = address / kRowBytes - r->first_row;
    if (r->rows) return r->rows.get() + index;
    Row* page = r->pages[index / kPageRows].get();
    return page ? page + index % kPageRows : nullptr;
  }
  // To be called before judge() and insert(); drops what is dead.
  void touch(const Place& p, uint32_t cta) {
    if (p.row->generation != p.region->generation)
      renew(p);
    else if (p.row->floor != p.region->floor)
      filter(p, cta);
  }
  void judge(const Place& p, Judge& judge, const Access& access);
  void insert(const Place& p, const Record& record, const CtaState& cta);
  // Both at once, for an access no other part of which meets it; the usual cases at once.
  void take(const Place& p, Judge& judge, const Access& access, const CtaState& cta) {
    if (!quick(p, access)) this->judge(p, judge, access), insert(p, access.record, cta);
  }

  // Has a list grown long? Then prune() behind the next access that nothing else meets.
  bool crowded() const { return crowded_; }
  void prune(const Place& p, const Judge& judge, const Access& access);

  uint32_t last_change(const Place& p, int from, int to) const;
  uint32_t change() const { return change_; }
  uint32_t next_change() { return change_ += change_ != UINT32_MAX; }
  uint64_t bytes() const { return bytes_; }
  // The short ways of Front keep records without asking: what they took counts here.
  bool overflowed() const { return overflowed_ || bytes_ > limit_; }

private:
  static constexpr uint64_t kPageRows = 32;
  struct Shared : Region {
    explicit Shared(uint64_t& total) : own(total) {}
    Store own;
    uint64_t row_count = 0;
  };

  Region* global_region(uint64_t address) {
    Region* r = recent_[address >> 40 & 15];
    if (r && address >= r->base && address < r->end) return r;
    return find_region(address);
  }
  Region* find_region(uint64_t address);
  Row* add_page(Region& region, uint64_t page);
  void renew(const Place& p);
  void filter(const Place& p, uint32_t cta);
  bool quick(const Place& p, const Access& access);
  bool quick_insert(RecordPool& pool, uint32_t& head, Row& row, const Record& record);
  void cells_for(const Place& p, const Record& record);
  void refine(const Place& p, uint32_t granule_bits);
  void judge_list(uint32_t head, const Place& p, Judge& judge, const Access& access) const;
  void insert_in(uint32_t& head, const Place& p, const Record& record, const CtaState& cta);
  bool merge_in(uint32_t& head, const Place& p, const Record& record, const CtaState& cta,
                uint32_t& same);
  bool absorb(RecordPool& pool, Record& into, Record& record, const CtaState& cta) const;
  void compact(uint32_t& head, const Place& p, const Record& record, const CtaState& cta);
  bool changed(const Place& p, const Record& record) const;

  const Causality& causality_;
  uint64_t limit_, bytes_ = 0;
  bool overflowed_ = false, crowded_ = false;
  uint32_t change_ = 1;
  Store global_{bytes_};
  std::vector<std::unique_ptr<Region>> regions_; // by base
  std::array<Region*, 16> recent_{};             // by window
  std::vector<std::unique_ptr<Shared>> shared_;  // by CTA
  std::vector<std::unique_ptr<Shared>> idle_;    // of CTAs that ended, for those that begin
};

} // namespace assay::race
