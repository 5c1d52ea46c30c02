// reverse: the mirror image of canonical. The highest agent that can run does; lanes of atomics and
// of one store act in descending order; CTAs start from the last one. Copies, whose ids are the
// highest, run as soon as they are issued. Who asks for an mbarrier phase is answered at once.
#include "schedule/policies.hpp"

namespace assay::schedule {

namespace {
class Reverse : public Policy {
public:
  std::string name() const override { return "reverse"; }
  void begin(const Launch&) override {}
  Decision pick(std::span<const AgentId> runnable, int last) override {
    uint32_t n = uint32_t(runnable.size());
    return {last < 0 ? n - 1 : (uint32_t(last) + n - 1) % n, 0xffffffff};
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    switch (kind) {
    case Choice::admit: return n - 1;
    case Choice::lane_order:
    case Choice::store_winner:
    case Choice::refuse: return 1;
    default: return 0;
    }
  }
};
} // namespace

std::unique_ptr<Policy> make_reverse() { return std::make_unique<Reverse>(); }

} // namespace assay::schedule
