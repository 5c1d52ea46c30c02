// Growth of record and cell pools; see store.hpp.
#include "race/store.hpp"

#include "base/check.hpp"

namespace assay::race {

uint32_t RecordPool::grow() {
  uint64_t capacity = capacity_ ? uint64_t(capacity_) * 2 : 1024;
  CHECK(capacity < UINT32_MAX);
  // From the start of a cache line: no record straddles two.
  auto* grown = static_cast<Record*>(std::aligned_alloc(64, capacity * sizeof(Record)));
  CHECK(grown);
  if (records_) std::memcpy(static_cast<void*>(grown), records_, capacity_ * sizeof(Record));
  std::free(records_);
  total_ += (capacity - capacity_) * sizeof(Record);
  records_ = grown;
  capacity_ = uint32_t(capacity);
  return used_++;
}

uint32_t RecordPool::add_table(const Table& table) {
  if (!free_tables_.empty()) {
    uint32_t i = free_tables_.back();
    free_tables_.pop_back();
    tables_[i] = table;
    return i;
  }
  uint64_t before = tables_.capacity();
  tables_.push_back(table);
  total_ += (tables_.capacity() - before) * sizeof(Table);
  return uint32_t(tables_.size() - 1);
}

void RecordPool::unite(Record& into, const Record& more) {
  if (!into.many) {
    Table table{};
    for (uint32_t w = 0; w < 32; ++w) table[w] = lanes(into, w);
    into.lanes = add_table(table);
    into.many = 1;
  }
  for (uint32_t w = 0; w < 32; ++w) tables_[into.lanes][w] |= lanes(more, w);
  into.warps |= more.warps;
}

void RecordPool::own_table(Record& copy) {
  if (!copy.many) return;
  Table table = tables_[copy.lanes];
  copy.lanes = add_table(table);
}

uint32_t CellPool::add(uint32_t granule_bits) {
  std::vector<uint32_t>& free = free_[granule_bits];
  if (!free.empty()) {
    uint32_t i = free.back();
    free.pop_back();
    return i;
  }
  CHECK(cells_.size() < UINT32_MAX - 256);
  uint64_t before = cells_.capacity();
  cells_.resize(cells_.size() + cells_of(granule_bits));
  total_ += (cells_.capacity() - before) * sizeof(Cell);
  return uint32_t(cells_.size() - cells_of(granule_bits));
}

} // namespace assay::race
