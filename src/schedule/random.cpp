// random: any runnable agent, for a random small number of scheduling points. Every legal schedule
// of scheduling points has a positive probability. Runs of length 1, 4 and 32 points are mixed,
// since some defects need long undisturbed stretches and others a switch at each point.
#include "base/random.hpp"
#include "schedule/policies.hpp"

namespace assay::schedule {

namespace {
class RandomPolicy : public Policy {
public:
  explicit RandomPolicy(uint64_t seed) : seed_(seed), random_(seed) {}
  std::string name() const override { return "random"; }
  void begin(const Launch& launch) override { random_ = Random(seed_, launch.index); }
  Decision pick(std::span<const AgentId> runnable, int) override {
    // Nothing: up to the next point only. Where lanes part on the way there, any of them may then
    // go first; otherwise those of the lowest lane would always be one point ahead.
    static constexpr uint32_t kLengths[] = {0, 1, 4, 32};
    uint32_t length = kLengths[random_.below(4)];
    return {random_.below(uint32_t(runnable.size())), length ? 1 + random_.below(length) : 0};
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    // Lane orders are seeds of permutations: any number will do.
    return random_.below(kind == Choice::lane_order ? 0x10000 : n);
  }
  bool admit_all() const override { return true; }

private:
  uint64_t seed_;
  Random random_;
};
} // namespace

std::unique_ptr<Policy> make_random(uint64_t seed) { return std::make_unique<RandomPolicy>(seed); }

} // namespace assay::schedule
