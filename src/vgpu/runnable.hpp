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
  const std::vector<schedule::AgentId>& ids() const { return ids_; } // what policies see
  bool empty() const { return ids_.empty(); }
  uint32_t size() const { return uint32_t(ids_.size()); }
  schedule::AgentId operator[](size_t at) const { return ids_[at]; }

  void insert(schedule::AgentId id) {
    if (ids_.empty() || ids_.back() < id) return ids_.push_back(id); // as when CTAs start
    auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    CHECK(at == ids_.end() || *at != id);
    ids_.insert(at, id);
  }
  void erase(schedule::AgentId id) {
    size_t at = find(id);
    CHECK(at < ids_.size());
    ids_.erase(ids_.begin() + ptrdiff_t(at));
  }
  // Its index, or size(). Mostly it is the one that was started last.
  size_t find(schedule::AgentId id) const {
    const size_t n = ids_.size();
    if (running_ < n && ids_[running_] == id) return running_;
    if (running_ <= n && (running_ == 0 || ids_[running_ - 1] < id) &&
        (running_ == n || id < ids_[running_]))
      return n; // it ran and waits
    auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
    return at != ids_.end() && *at == id ? size_t(at - ids_.begin()) : n;
  }
  // The agent there is the one that runs from now on.
  schedule::AgentId start(size_t at) {
    running_ = at;
    return ids_[at];
  }

private:
  std::vector<schedule::AgentId> ids_;
  size_t running_ = 0; // index of the agent that ran last, when it was picked
};

} // namespace assay::vgpu
