// canonical: in order and in lockstep. An agent runs until it waits; then the lowest one that can.
// An agent whose quantum ended makes room for the next, so that spinning is fair. CTAs start in
// index order, a next one when those that have started wait or have gone on for long, which keeps
// memory small.
#include "schedule/policies.hpp"

namespace assay::schedule {

namespace {
class Canonical : public Policy {
public:
  std::string name() const override { return "canonical"; }
  void begin(const Launch&) override {}
  Decision pick(std::span<const AgentId> runnable, int last) override {
    uint32_t next = last < 0 ? 0 : uint32_t(last + 1) % uint32_t(runnable.size());
    return {next, 0xffffffff};
  }
  uint32_t choose(Choice, uint32_t) override { return 0; }
};
} // namespace

std::unique_ptr<Policy> make_canonical() { return std::make_unique<Canonical>(); }

} // namespace assay::schedule
