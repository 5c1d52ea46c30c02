// async-late: asynchronous copies, and arrivals that follow them, take place as late as their waits
// allow: not before somebody waits for them, or the CTA ends. What is read too early is then still
// the old value, and what is overwritten too early is copied from too late. Everybody else runs in
// random order, for long stretches, so that the pipeline behind a copy may get far ahead of it.
#include "base/random.hpp"
#include "schedule/policies.hpp"

namespace assay::schedule {

namespace {
class AsyncLate : public Policy {
public:
  explicit AsyncLate(uint64_t seed) : seed_(seed), random_(seed) {}
  std::string name() const override { return "async-late"; }
  void begin(const Launch& launch) override { random_ = Random(seed_, launch.index); }
  Decision pick(std::span<const AgentId> runnable, int) override {
    return {random_.below(uint32_t(runnable.size())), 1 + random_.below(64)};
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    return random_.below(kind == Choice::lane_order ? 0x10000 : n);
  }
  Copies copies() const override { return Copies::on_demand; }

private:
  uint64_t seed_;
  Random random_;
};
} // namespace

std::unique_ptr<Policy> make_async_late(uint64_t seed) { return std::make_unique<AsyncLate>(seed); }

} // namespace assay::schedule
