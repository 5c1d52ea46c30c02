// Shadow memory: for every touched row of 128 bytes, the records of the accesses to it.
// Nothing is ever lost: a record goes only when another one stands for it in every future
// conflict (same pc and attributes, ordered after it), see Row::insert.
#pragma once

#include "race/judge.hpp"

#include <memory>
#include <vector>

namespace assay::race {

class Row final : public ChangeLog {
public:
  uint32_t last_change(int byte) const override;
  void judge(Judge& judge, const Access& access) const {
    for (const Record& r : records_) judge.judge(r, access, *this);
  }
  void insert(const Record& record, const CtaState& cta);
  size_t size() const { return records_.size(); }

private:
  void compact(const Record& record, const CtaState& cta);
  std::vector<Record> records_;
  uint32_t change_ = 0; // the last one of any byte
};

class Shadow {
public:
  explicit Shadow(uint64_t limit) : limit_(limit) {}
  void track(uint64_t base, uint64_t bytes);
  void shared_begin(uint32_t cta, uint32_t bytes);
  void shared_end(uint32_t cta);
  // The row of an address (its address too); null where nothing is tracked or memory is spent.
  Row* row(Space space, uint32_t cta, uint64_t address);
  uint32_t change() const { return change_; }
  uint32_t next_change() { return change_ += change_ != UINT32_MAX; }
  void grown(uint64_t bytes) { bytes_ += bytes; }
  uint64_t bytes() const { return bytes_; }
  bool overflowed() const { return overflowed_; }

private:
  static constexpr uint64_t kPageRows = 32;
  using Page = std::unique_ptr<Row[]>;
  struct Region {
    uint64_t first_row = 0, base = 0, end = 0;
    std::vector<Page> pages;
  };
  Row* row_in(Region& region, uint64_t address);

  std::vector<Region> regions_; // by base
  std::vector<std::pair<uint32_t, Region>> shared_;
  uint64_t limit_, bytes_ = 0;
  uint32_t change_ = 1;
  bool overflowed_ = false;
};

} // namespace assay::race
