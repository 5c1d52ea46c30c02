// Memory of a shadow: records and cell tables by 32-bit index, so that they may move as they grow.
#pragma once

#include "race/record.hpp"

#include <array>
#include <cstdlib>
#include <vector>

namespace assay::race {

// The records of one granule of a row, newest first, those that write apart from pure reads.
struct Cell {
  uint32_t writes = kNoRecord, reads = kNoRecord;
};

// Records by index; index 0 is none. Growing moves them: hold no reference across add().
class RecordPool {
public:
  explicit RecordPool(uint64_t& total) : total_(total) {}
  ~RecordPool() { std::free(records_); }
  RecordPool(const RecordPool&) = delete;
  RecordPool& operator=(const RecordPool&) = delete;

  Record& operator[](uint32_t i) { return records_[i]; }
  const Record& operator[](uint32_t i) const { return records_[i]; }
  uint32_t add(const Record& r) {
    uint32_t i = free_;
    if (i)
      free_ = records_[i].next;
    else
      i = used_ < capacity_ ? used_++ : grow();
    records_[i] = r;
    return i;
  }
  bool room() const { return free_ || used_ < capacity_; } // for one more without growing
  // The same from a record's parts, see Record::what.
  // MayGrow: there may be no room().
  template <bool MayGrow>
  __attribute__((always_inline)) uint32_t add(uint64_t what, uint64_t when, uint32_t warps,
                                              uint32_t lanes, uint32_t change, uint32_t next) {
    uint32_t i = free_;
    if (i)
      free_ = records_[i].next;
    else
      i = !MayGrow || used_ < capacity_ ? used_++ : grow();
    // One store for each half: an array on the stack would be read back before its parts are there.
    char* to = reinterpret_cast<char*>(&records_[i]);
    uint64_t who = warps | uint64_t(lanes) << 32, rest = change | uint64_t(next) << 32;
    std::memcpy(to, &what, 8);
    std::memcpy(to + 8, &when, 8);
    std::memcpy(to + 16, &who, 8);
    std::memcpy(to + 24, &rest, 8);
    return i;
  }
  void release(uint32_t i) {
    if (records_[i].many) free_tables_.push_back(records_[i].lanes);
    records_[i].next = free_;
    free_ = i;
  }
  void reset() { // forgets them all
    used_ = 1, free_ = kNoRecord;
    tables_.clear();
    free_tables_.clear();
  }

  // The lanes of one warp of a record.
  uint32_t lanes(const Record& r, uint32_t warp) const {
    return r.many ? tables_[r.lanes][warp] : r.warps >> warp & 1 ? r.lanes : 0;
  }
  // Adds agents that are no product with those there are.
  void unite(Record& into, const Record& more);
  // The same where there is a table already and `more` is of one warp.
  void extend(Record& into, const Record& more) {
    tables_[into.lanes][uint32_t(std::countr_zero(more.warps))] |= more.lanes;
    into.warps |= more.warps;
  }
  void drop_table(Record& r) {
    if (r.many) free_tables_.push_back(r.lanes);
    r.many = 0;
  }
  void own_table(Record& copy); // of a record with one

private:
  uint32_t grow();
  uint64_t& total_; // bytes of all pools
  Record* records_ = nullptr;
  uint32_t used_ = 1, capacity_ = 0, free_ = kNoRecord;
  using Table = std::array<uint32_t, 32>;
  uint32_t add_table(const Table& table);
  std::vector<Table> tables_;
  std::vector<uint32_t> free_tables_;
};

// Tables of 32, 64 or 128 cells, for granules of 4, 2 and 1 bytes.
class CellPool {
public:
  explicit CellPool(uint64_t& total) : total_(total) {}
  static uint32_t cells_of(uint32_t granule_bits) { return kRowBytes >> granule_bits; }
  Cell* at(uint32_t i) { return cells_.data() + i; }
  const Cell* at(uint32_t i) const { return cells_.data() + i; }
  uint32_t add(uint32_t granule_bits); // not cleared
  void release(uint32_t i, uint32_t granule_bits) { free_[granule_bits].push_back(i); }

private:
  uint64_t& total_;
  std::vector<Cell> cells_{Cell{}}; // index 0 is none
  std::array<std::vector<uint32_t>, 3> free_;
};

struct Store {
  explicit Store(uint64_t& total) : records(total), cells(total) {}
  RecordPool records;
  CellPool cells;
};

} // namespace assay::race
