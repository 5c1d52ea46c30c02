// Look-up and merging of sparse clocks; see clock.hpp.
#include "race/clock.hpp"

#include <algorithm>

namespace assay::race {
namespace {
using Iterator = std::vector<ClockEntry>::const_iterator;

Iterator find_from(Iterator first, Iterator last, uint64_t key) {
  return std::lower_bound(first, last, key,
                          [](const ClockEntry& e, uint64_t k) { return e.key < k; });
}

// Appends entries in key order and leaves out those that their warp's or CTA's entry implies.
class Pruner {
public:
  explicit Pruner(size_t expected) { out_.reserve(expected); }
  void add(const ClockEntry& e) {
    if (e.key >> 16 != cta_ >> 16 || !any_) cta_ = e.key, cta_time_ = warp_time_ = 0;
    if (e.key >> 8 != warp_ >> 8 || !any_) warp_ = e.key, warp_time_ = 0;
    any_ = true;
    bool whole_cta = (e.key & 0xffff) == 0, whole_warp = (e.key & 0xff) == 0;
    if (!whole_cta && e.time <= std::max(cta_time_, whole_warp ? 0 : warp_time_)) return;
    if (whole_cta)
      cta_time_ = e.time;
    else if (whole_warp)
      warp_time_ = e.time;
    out_.push_back(e);
  }
  std::vector<ClockEntry> take() { return std::move(out_); }

private:
  std::vector<ClockEntry> out_;
  uint64_t cta_ = 0, warp_ = 0;
  uint32_t cta_time_ = 0, warp_time_ = 0;
  bool any_ = false;
};

std::vector<ClockEntry> merge_entries(const std::vector<ClockEntry>& a,
                                      const std::vector<ClockEntry>& b) {
  Pruner out(a.size() + b.size());
  auto i = a.begin(), j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->key < j->key)) {
      out.add(*i++);
    } else if (i == a.end() || j->key < i->key) {
      out.add(*j++);
    } else {
      out.add({i->key, std::max(i->time, j->time)});
      ++i, ++j;
    }
  }
  return out.take();
}

bool same(const std::vector<ClockEntry>& a, const std::vector<ClockEntry>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](auto& x, auto& y) {
           return x.key == y.key && x.time == y.time;
         });
}
} // namespace

uint32_t Clock::known_cta(uint32_t cta) const {
  auto it = find_from(entries_.begin(), entries_.end(), cta_key(cta));
  return it != entries_.end() && it->key == cta_key(cta) ? it->time : 0;
}

uint32_t Clock::known_warp(uint32_t cta, uint32_t warp) const {
  auto it = find_from(entries_.begin(), entries_.end(), cta_key(cta));
  uint32_t time = it != entries_.end() && it->key == cta_key(cta) ? it->time : 0;
  it = find_from(it, entries_.end(), warp_key(cta, warp));
  if (it != entries_.end() && it->key == warp_key(cta, warp)) time = std::max(time, it->time);
  return time;
}

uint32_t Clock::known(uint32_t cta, uint32_t warp, uint32_t lane) const {
  uint32_t time = known_warp(cta, warp);
  auto it = find_from(entries_.begin(), entries_.end(), lane_key(cta, warp, lane));
  if (it != entries_.end() && it->key == lane_key(cta, warp, lane)) time = std::max(time, it->time);
  return time;
}

ClockRef merge(const ClockRef& a, const ClockRef& b) {
  if (!b || a == b) return a;
  if (!a) return b;
  std::vector<ClockEntry> all = merge_entries(a->entries(), b->entries());
  if (same(all, a->entries())) return a;
  if (same(all, b->entries())) return b;
  return ClockRef(new Clock(std::move(all)));
}

ClockRef ClockBuilder::take() {
  if (!entries_.empty()) {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](auto& x, auto& y) { return x.key < y.key; });
    Pruner own(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) {
      ClockEntry e = entries_[i];
      while (i + 1 < entries_.size() && entries_[i + 1].key == e.key)
        e.time = std::max(e.time, entries_[++i].time);
      own.add(e);
    }
    merged_ = merge(merged_, ClockRef(new Clock(own.take())));
    entries_.clear();
  }
  last_ = {};
  return std::move(merged_);
}

} // namespace assay::race
