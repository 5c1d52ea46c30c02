// Rows and pages of shadow memory; see shadow.hpp.
#include "race/shadow.hpp"

#include "base/check.hpp"

#include <algorithm>

namespace assay::race {
namespace {

bool same_key(const Record& a, const Record& b) {
  return a.pc == b.pc && a.attributes == b.attributes && a.start == b.start && a.cta == b.cta &&
         !a.copy();
}

// The largest floor of the CTA that is at most `time`: what is below it was ordered before `time`.
uint32_t floor_at(const CtaState& cta, uint32_t time) {
  auto it = std::upper_bound(cta.floors.begin(), cta.floors.end(), time);
  return it == cta.floors.begin() ? 0 : *(it - 1);
}

bool subset(uint32_t a, uint32_t b) { return !(a & ~b); }

// Lets `into`, the older of two records of one key, stand for both where that loses nothing:
// any later access that is unordered with the one is unordered with the other, at one distance.
bool absorb(Record& into, const Record& record, const CtaState& cta) {
  uint32_t change = std::max(into.change, record.change);
  if (into.time == record.time) {
    if (into.lanes == record.lanes)
      into.warps |= record.warps;
    else if (into.warps == record.warps)
      into.lanes |= record.lanes;
    else
      return false;
    into.change = change;
    return true;
  }
  if (into.time > record.time || !(subset(into.lanes, record.lanes) || !into.affine()))
    return false;
  bool same_agents = subset(into.warps, record.warps) && subset(into.lanes, record.lanes);
  if (!same_agents && into.time >= floor_at(cta, record.time)) return false;
  uint32_t next = into.next;
  into = record;
  into.next = next;
  return true;
}

} // namespace

uint32_t Row::last_change(int byte) const {
  uint32_t last = 0;
  for (const Record& r : records_)
    if (r.changing() && r.change > last && r.lanes_at(byte, byte + 1)) last = r.change;
  return last;
}

void Row::insert(const Record& record, const CtaState& cta) {
  if (record.changing()) change_ = record.change;
  uint32_t same = 0;
  for (Record& r : records_) {
    if (!same_key(r, record)) continue;
    if (r.change >= change_ && absorb(r, record, cta)) return;
    ++same;
  }
  records_.push_back(record);
  if (same >= 2) compact(record, cta);
}

// Joins records of the new one's key all of whose bytes have been changed since.
void Row::compact(const Record& record, const CtaState& cta) {
  auto changed = [&](const Record& r) {
    return std::any_of(records_.begin(), records_.end(), [&](const Record& w) {
      return w.changing() && w.change > r.change && w.start == r.start && w.bytes() == r.bytes() &&
             w.affine() == r.affine() && (!r.affine() || subset(r.lanes, w.lanes));
    });
  };
  std::vector<size_t> candidates;
  for (size_t i = 0; i < records_.size(); ++i)
    if (same_key(records_[i], record) && changed(records_[i])) candidates.push_back(i);
  for (size_t i = candidates.size(); i-- > 1;)
    for (size_t j = 0; j < i; ++j)
      if (absorb(records_[candidates[j]], records_[candidates[i]], cta)) {
        records_.erase(records_.begin() + ptrdiff_t(candidates[i]));
        break;
      }
}

void Shadow::track(uint64_t base, uint64_t bytes) {
  if (!bytes) return;
  Region r{base / kRowBytes, base, base + bytes, {}};
  r.pages.resize(((base + bytes - 1) / kRowBytes - r.first_row) / kPageRows + 1);
  auto at = std::upper_bound(regions_.begin(), regions_.end(), base,
                             [](uint64_t b, const Region& x) { return b < x.base; });
  CHECK(at == regions_.end() || base + bytes <= at->base);
  CHECK(at == regions_.begin() || (at - 1)->end <= base);
  regions_.insert(at, std::move(r));
}

void Shadow::shared_begin(uint32_t cta, uint32_t bytes) {
  Region r{0, 0, bytes, {}};
  r.pages.resize(bytes / kRowBytes / kPageRows + 1);
  shared_.emplace_back(cta, std::move(r));
}

void Shadow::shared_end(uint32_t cta) {
  std::erase_if(shared_, [&](auto& s) { return s.first == cta; });
}

Row* Shadow::row_in(Region& region, uint64_t address) {
  if (address < region.base || address >= region.end) return nullptr;
  uint64_t index = address / kRowBytes - region.first_row;
  Page& page = region.pages[index / kPageRows];
  if (!page) {
    if (bytes_ + kPageRows * sizeof(Row) > limit_) {
      overflowed_ = true;
      return nullptr;
    }
    page = std::make_unique<Row[]>(kPageRows);
    bytes_ += kPageRows * sizeof(Row);
  }
  return &page[index % kPageRows];
}

Row* Shadow::row(Space space, uint32_t cta, uint64_t address) {
  if (space == Space::shared) {
    for (auto& [owner, region] : shared_)
      if (owner == cta) return row_in(region, address);
    return nullptr;
  }
  auto at = std::upper_bound(regions_.begin(), regions_.end(), address,
                             [](uint64_t a, const Region& x) { return a < x.base; });
  return at == regions_.begin() ? nullptr : row_in(*(at - 1), address);
}

} // namespace assay::race
