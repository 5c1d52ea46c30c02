// Sparse vector clocks: what one lane knows of others. An entry says "everything that this lane,
// this warp or this CTA did at a time below T is ordered before me". Clocks are immutable once
// built and shared by reference count, so that handing one to 32 lanes costs nothing.
// Invariants: entries sorted by key, one per key, none implied by an entry of its warp or CTA.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace assay::race {

struct ClockEntry {
  uint64_t key = 0;
  uint32_t time = 0;
};

// Keys sort a CTA's own entry before its warps, and a warp's before its lanes.
constexpr uint64_t cta_key(uint32_t cta) { return uint64_t(cta) << 16; }
constexpr uint64_t warp_key(uint32_t cta, uint32_t warp) { return cta_key(cta) | (warp + 1) << 8; }
constexpr uint64_t lane_key(uint32_t cta, uint32_t warp, uint32_t lane) {
  return warp_key(cta, warp) | (lane + 1);
}

class Clock {
public:
  explicit Clock(std::vector<ClockEntry> entries) : entries_(std::move(entries)) {}
  // The time below which everything of that lane is known; 0: nothing.
  uint32_t known(uint32_t cta, uint32_t warp, uint32_t lane) const;
  // The same for all lanes of the warp, as far as whole-warp and whole-CTA entries tell.
  uint32_t known_warp(uint32_t cta, uint32_t warp) const;
  uint32_t known_cta(uint32_t cta) const;
  const std::vector<ClockEntry>& entries() const { return entries_; }

private:
  friend class ClockRef;
  std::vector<ClockEntry> entries_;
  mutable uint32_t references_ = 0; // not atomic: a detector lives on one thread
};

class ClockRef {
public:
  ClockRef() = default;
  explicit ClockRef(const Clock* clock) : clock_(clock) {
    if (clock_) ++clock_->references_;
  }
  ClockRef(const ClockRef& other) : ClockRef(other.clock_) {}
  ClockRef(ClockRef&& other) noexcept : clock_(std::exchange(other.clock_, nullptr)) {}
  ClockRef& operator=(ClockRef other) noexcept {
    std::swap(clock_, other.clock_);
    return *this;
  }
  ~ClockRef() {
    if (clock_ && --clock_->references_ == 0) delete clock_;
  }
  explicit operator bool() const { return clock_ != nullptr; }
  bool operator==(const ClockRef& other) const { return clock_ == other.clock_; }
  const Clock* get() const { return clock_; }
  const Clock* operator->() const { return clock_; }

private:
  const Clock* clock_ = nullptr;
};

// The least clock that knows what both know. Returns one of its arguments where that one suffices.
ClockRef merge(const ClockRef& a, const ClockRef& b);

// Collects entries in any order, then makes one clock of them and of whole clocks.
class ClockBuilder {
public:
  void add(const ClockRef& clock) {
    if (clock && !(clock == last_)) merged_ = merge(merged_, clock), last_ = clock;
  }
  void add(uint64_t key, uint32_t time) {
    if (time) entries_.push_back({key, time});
  }
  ClockRef take(); // null when nothing is known

private:
  ClockRef merged_, last_;
  std::vector<ClockEntry> entries_;
};

} // namespace assay::race
