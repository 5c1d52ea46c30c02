// async-early: asynchronous copies, and arrivals that follow them, take place as they are issued.
// What is still read when the copy is issued is then overwritten at once. Everybody else runs in
// random order, for long stretches.
#include "base/random.hpp"
#include "schedule/policies.hpp"

namespace assay::schedule {

namespace {
class AsyncEarly : public Policy {
public:
  explicit AsyncEarly(uint64_t seed) : seed_(seed), random_(seed) {}
  std::string name() const override { return "async-early"; }
  void begin(const Launch& launch) override { random_ = Random(seed_, launch.index); }
  Decision pick(std::span<const AgentId> runnable, int) override {
    return {random_.below(uint32_t(runnable.size())), 1 + random_.below(64)};
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    return random_.below(kind == Choice::lane_order ? 0x10000 : n);
  }
  Copies copies() const override { return Copies::at_issue; }

private:
  uint64_t seed_;
  Random random_;
};
} // namespace

std::unique_ptr<Policy> make_async_early(uint64_t seed) {
  return std::make_unique<AsyncEarly>(seed);
}

} // namespace assay::schedule
