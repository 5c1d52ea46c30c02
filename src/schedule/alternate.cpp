// alternate: everybody takes one step, in turn from the lowest to the highest and back again. Who
// steps last in one round so steps first in the next, and what many agents do alike (an atomic,
// then a fence) happens in one order the first time and in the opposite order the second. That
// fences (fence.sc orders by when it executes) need not come in the order of the atomics before
// them hardly shows where agents run longer. Even seeds start from the highest.
#include "schedule/policies.hpp"

#include <algorithm>

namespace assay::schedule {

namespace {
class Alternate : public Policy {
public:
  explicit Alternate(uint64_t seed) : from_below_(seed % 2 == 1) {}
  std::string name() const override { return "alternate"; }
  void begin(const Launch&) override {
    rising_ = from_below_;
    turned_ = true;
  }
  Decision pick(std::span<const AgentId> runnable, int) override {
    const auto first = runnable.begin(), end = runnable.end();
    auto above = turned_ ? first : std::upper_bound(first, end, last_);
    auto below = turned_ ? end : std::lower_bound(first, end, last_);
    turned_ = false;
    if (rising_ && above == end)
      rising_ = false, below = end;
    else if (!rising_ && below == first)
      rising_ = true, above = first;
    const auto next = rising_ ? above : below - 1;
    last_ = *next;
    return {uint32_t(next - first), 1};
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    switch (kind) {
    case Choice::admit: return from_below_ ? 0 : n - 1;
    case Choice::lane_order:
    case Choice::store_winner: return from_below_ ? 0 : 1;
    default: return 0;
    }
  }
  bool admit_all() const override { return true; }

private:
  bool from_below_, rising_ = true;
  bool turned_ = true; // nobody has stepped yet
  AgentId last_;       // who stepped last
};
} // namespace

std::unique_ptr<Policy> make_alternate(uint64_t seed) { return std::make_unique<Alternate>(seed); }

} // namespace assay::schedule
