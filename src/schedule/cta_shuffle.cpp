// cta-shuffle: CTAs start in any order, and one CTA at a time runs for a long stretch while others
// stand still, as on a device whose SMs are unequally busy.
#include "base/random.hpp"
#include "schedule/policies.hpp"

namespace assay::schedule {

namespace {
class CtaShuffle : public Policy {
public:
  explicit CtaShuffle(uint64_t seed) : seed_(seed), random_(seed) {}
  std::string name() const override { return "cta-shuffle"; }
  void begin(const Launch& launch) override { random_ = Random(seed_, launch.index); }
  Decision pick(std::span<const AgentId> runnable, int) override {
    uint32_t n = uint32_t(runnable.size());
    // Stay with the favoured CTA for a while; then favour the CTA of a random agent.
    if (left_ == 0) {
      left_ = 1 + random_.below(64);
      favoured_ = runnable[random_.below(n)].cta;
    }
    --left_;
    uint32_t first = n, count = 0;
    for (uint32_t i = 0; i < n; ++i)
      if (runnable[i].cta == favoured_) {
        if (first == n) first = i;
        ++count;
      }
    if (!count) {
      left_ = 0;
      return {random_.below(n), 1 + random_.below(8)};
    }
    return {first + random_.below(count), 1 + random_.below(8)};
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    if (kind == Choice::split) return 0;
    return random_.below(kind == Choice::lane_order ? 0x10000 : n);
  }
  bool admit_all() const override { return true; }

private:
  uint64_t seed_;
  Random random_;
  uint32_t left_ = 0, favoured_ = 0;
};
} // namespace

std::unique_ptr<Policy> make_cta_shuffle(uint64_t seed) {
  return std::make_unique<CtaShuffle>(seed);
}

} // namespace assay::schedule
