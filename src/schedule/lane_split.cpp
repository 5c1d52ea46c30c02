// lane-split: warps fall apart at scheduling points (halves, odd and even lanes, one lane and the
// rest) and the parts run in any order: what independent thread scheduling allows since Volta.
#include "base/random.hpp"
#include "schedule/policies.hpp"

namespace assay::schedule {

namespace {
class LaneSplit : public Policy {
public:
  explicit LaneSplit(uint64_t seed) : seed_(seed), random_(seed) {}
  std::string name() const override { return "lane-split"; }
  void begin(const Launch& launch) override { random_ = Random(seed_, launch.index); }
  Decision pick(std::span<const AgentId> runnable, int) override {
    return {random_.below(uint32_t(runnable.size())), 1};
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    if (kind == Choice::split) return random_.below(2) ? 1 + random_.below(n - 1) : 0;
    if (kind == Choice::admit) return 0;
    return random_.below(kind == Choice::lane_order ? 0x10000 : n);
  }
  bool reconverge() const override { return false; }
  bool splits() const override { return true; }

private:
  uint64_t seed_;
  Random random_;
};
} // namespace

std::unique_ptr<Policy> make_lane_split(uint64_t seed) { return std::make_unique<LaneSplit>(seed); }

} // namespace assay::schedule
