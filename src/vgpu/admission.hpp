// The CTAs of a launch that have not started, in index order. A policy may take one out of turn,
// which changes places with the first; only such exceptions are kept, so that a launch of millions
// of CTAs costs nothing.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace assay::vgpu {

class Admission {
public:
  explicit Admission(uint32_t ctas, uint32_t first = 0) : first_(first), end_(ctas) {}

  uint32_t left() const { return end_ - first_; }
  bool empty() const { return first_ == end_; }

  // The k-th of those left, which are then one fewer.
  uint32_t take(uint32_t k) {
    if (k + 1 == left() && k) return out(--end_);
    uint32_t cta = out(first_ + k), front = k ? out(first_) : cta;
    if (k) moved_[first_ + k] = front;
    ++first_;
    return cta;
  }

private:
  // What stands at a place, which is then forgotten.
  uint32_t out(uint32_t place) {
    if (moved_.empty()) return place;
    auto at = moved_.find(place);
    if (at == moved_.end()) return place;
    uint32_t cta = at->second;
    moved_.erase(at);
    return cta;
  }

  uint32_t first_, end_;
  std::unordered_map<uint32_t, uint32_t> moved_; // place → CTA
};

} // namespace assay::vgpu
