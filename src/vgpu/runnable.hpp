// The agents that can run: ready groups and pending copies, sorted by id. Hot: every turn of a warp
// at a barrier takes one out and the last one puts all of them back.
#pragma once

#include "base/check.hpp"
#include "schedule/policy.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace assay::vgpu {

class Runnable {
public:
  // What policies see: sorted, without gaps.
  std::span<const schedule::AgentId> ids() const { return {ids_.data() + first_, size()}; }
  bool empty() const { return ids_.size() == first_; }
  uint32_t size() const { return uint32_t(ids_.size() - first_); }
  size_t room() const { return ids_.size(); } // for ids, of which size() are taken
  schedule::AgentId operator[](size_t at) const { return ids_[first_ + at]; }

  void insert(schedule::AgentId id) {
    if (empty() || ids_.back() < id) { // as when CTAs start, and after a barrier
      if (first_ > size()) ids_.erase(ids_.begin(), ids_.begin() + ptrdiff_t(first_)), first_ = 0;
      return ids_.push_back(id);
    }
    const auto first = ids_.begin() + ptrdiff_t(first_);
    auto at = std::lower_bound(first, ids_.end(), id);
    CHECK(*at != id);
    if (!first_) {
      ids_.insert(at, id);
    } else { // into the room before the first: else each phase of a barrier would leave some behind
      std::move(first, at, first - 1);
      --first_;
      *(at - 1) = id;
    }
  }
  void erase(schedule::AgentId id) {
    size_t at = find(id);
    CHECK(at < size());
    if (at == 0)
      ++first_;
    else
      ids_.erase(ids_.begin() + ptrdiff_t(first_ + at));
  }
  // Its index, or size(). Mostly it is the one that was started last.
  size_t find(schedule::AgentId id) const {
    const auto all = ids();
    const size_t n = all.size();
    if (running_ < n && all[running_] == id) return running_;
    if (running_ <= n && (running_ == 0 || all[running_ - 1] < id) &&
        (running_ == n || id < all[running_]))
      return n; // it ran and waits
    auto at = std::lower_bound(all.begin(), all.end(), id);
    return at != all.end() && *at == id ? size_t(at - all.begin()) : n;
  }
  // The agent there is the one that runs from now on.
  schedule::AgentId start(size_t at) {
    running_ = at;
    return (*this)[at];
  }

private:
  std::vector<schedule::AgentId> ids_;
  size_t first_ = 0;   // those before it are gone: at a barrier agents leave from the front
  size_t running_ = 0; // index of the agent that ran last, when it was picked
};

} // namespace assay::vgpu
