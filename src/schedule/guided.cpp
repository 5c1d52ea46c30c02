// A trace followed as far as it can be: what was recorded is a proposal here, not a condition as in
// a replay. A step whose agent cannot run is left out; where nothing is proposed any more, the rest
// runs as the canonical policy has it. Taking steps out of a trace then gives a schedule again,
// which is what minimisation needs (delta debugging: Zeller, Hildebrandt, "Simplifying and
// Isolating Failure-Inducing Input", IEEE TSE 2002; of schedules: Choi, Zeller, "Isolating
// Failure-Inducing Thread Schedules", ISSTA 2002).
#include "schedule/policies.hpp"
#include "schedule/trace.hpp"

#include <algorithm>

namespace assay::schedule {

namespace {

class Guided : public Policy {
public:
  Guided(const Trace& trace, uint64_t& preemptions)
      : trace_(trace), preemptions_(preemptions), traits_(make_policy(trace.policy, trace.seed)),
        rest_(make_canonical()) {
    if (!traits_) traits_ = make_canonical();
  }
  std::string name() const override { return trace_.policy; }
  void begin(const Launch& launch) override {
    if (launch.index == 0) step_ = choice_ = preemptions_ = 0;
    launch_ = launch.index;
    rest_->begin(launch);
  }
  Decision pick(std::span<const AgentId> runnable, int last) override {
    Decision d = next(runnable, last);
    // An agent that could have gone on had to make room. The canonical policy hands on only when a
    // quantum has ended: that is fairness, no preemption.
    preemptions_ += last >= 0 && d.pick != uint32_t(last) && !by_rest_;
    return d;
  }
  uint32_t choose(Choice kind, uint32_t n) override {
    uint32_t answer = choice_ < trace_.choices.size() ? trace_.choices[choice_++] : 0;
    return answer < n || kind == Choice::lane_order ? answer : 0;
  }
  bool admit_all() const override { return traits_->admit_all(); }
  bool reconverge() const override { return traits_->reconverge(); }
  bool splits() const override { return traits_->splits(); }
  bool misses_writes() const override { return traits_->misses_writes(); }
  bool delays_fences() const override { return traits_->delays_fences(); }
  bool delays_writes() const override { return traits_->delays_writes(); }

private:
  Decision next(std::span<const AgentId> runnable, int last) {
    by_rest_ = false;
    for (; step_ < trace_.steps.size(); ++step_) {
      const Trace::Step& s = trace_.steps[step_];
      if (s.launch > launch_) break;
      if (s.launch < launch_) continue;
      auto at = std::lower_bound(runnable.begin(), runnable.end(), s.agent);
      if (at == runnable.end() || *at != s.agent) continue;
      ++step_;
      return {uint32_t(at - runnable.begin()), s.limit};
    }
    by_rest_ = true;
    return rest_->pick(runnable, last);
  }

  const Trace& trace_;
  uint64_t& preemptions_;
  std::unique_ptr<Policy> traits_, rest_;
  size_t step_ = 0, choice_ = 0;
  uint32_t launch_ = 0;
  bool by_rest_ = false;
};

} // namespace

std::unique_ptr<Policy> make_guided(const Trace& trace, uint64_t& preemptions) {
  return std::make_unique<Guided>(trace, preemptions);
}

} // namespace assay::schedule
