// Which of some operations any run of a job has executed: marked as they are, by all runs that are
// given the same object, in as many threads as there are. Only the operations that are asked for
// are looked at (they go through the handler of armed operations), so that the others stay quick.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace assay::vgpu {

class Reach {
public:
  // Of each launch, the operations that are asked for, by their index.
  explicit Reach(std::vector<std::vector<uint32_t>> asked) : asked_(std::move(asked)) {
    for (const std::vector<uint32_t>& pcs : asked_) {
      uint32_t end = 0;
      for (uint32_t pc : pcs) end = std::max(end, pc + 1);
      executed_.emplace_back(end);
    }
  }

  const std::vector<uint32_t>& asked(uint32_t launch) const { return asked_[launch]; }
  void executed(uint32_t launch, uint32_t pc) {
    if (pc < executed_[launch].size()) executed_[launch][pc].store(true, std::memory_order_relaxed);
  }
  // Of one that is asked for: has some thread executed it, its guard being true?
  bool was_executed(uint32_t launch, uint32_t pc) const { return executed_[launch][pc]; }

private:
  std::vector<std::vector<uint32_t>> asked_;
  std::vector<std::vector<std::atomic<bool>>> executed_;
};

} // namespace assay::vgpu
