// Delta debugging over a trace's decisions; see minimize.hpp and schedule/guided.cpp.
//
// A candidate is the trace without some of its steps, choices or held accesses. It is run as far as
// it goes, and accepted when what is looked for is still seen and the cost has not grown. The cost
// is the number of preemptions: agents that could have gone on when another was picked, and
// accesses that were held.
#include "explore/minimize.hpp"

#include "explore/plan.hpp"

#include <algorithm>

namespace assay::explore {

namespace {

constexpr uint64_t kMostRuns = 4000;

class Minimizer {
public:
  Minimizer(const vgpu::JobSpec& job, const std::function<bool(const vgpu::Outcome&)>& still,
            const Options& options)
      : job_(job), still_(still), options_(options) {}

  Result<Minimized> run(const schedule::Trace& trace) {
    best_ = trace;
    cost_ = UINT64_MAX;
    if (!accept(trace))
      return usage_error("the trace does not show what is to be minimised: nothing was done");
    out_.before = cost_;
    schedule::Trace plain = best_;
    plain.steps.clear();
    plain.choices.clear();
    if (!accept(plain)) {
      schedule::Trace canonical = best_;
      canonical.choices.clear();
      accept(canonical);
      canonical = best_;
      canonical.steps.clear();
      accept(canonical);
    }
    for (uint64_t last = UINT64_MAX; cost_ + best_.steps.size() < last && !spent();) {
      last = cost_ + best_.steps.size();
      shrink_arms();
      shrink_steps();
      shrink_choices();
    }
    out_.after = cost_;
    out_.complete = !spent();
    out_.trace = std::move(recorded_);
    return std::move(out_);
  }

private:
  bool spent() const {
    return out_.runs >= kMostRuns ||
           (options_.deadline > 0 && vgpu::monotonic_seconds() > options_.deadline);
  }

  bool accept(const schedule::Trace& candidate) {
    if (spent()) return false;
    Result<vgpu::RunOptions> run = options_of(candidate, options_);
    if (!run) return false;
    run->detect = true;
    uint64_t preemptions = 0;
    auto policy = schedule::make_guided(candidate, preemptions);
    vgpu::Outcome out = vgpu::run(job_, *policy, *run);
    ++out_.runs;
    const uint64_t cost = preemptions + candidate.arms.size();
    if (cost > cost_ || !still_(out)) return false;
    cost_ = cost;
    best_ = candidate;
    recorded_ = std::move(out.trace);
    stamp(recorded_, job_, candidate.seed);
    recorded_.finding = candidate.finding;
    recorded_.command = candidate.command;
    recorded_.sites = candidate.sites;
    return true;
  }

  void shrink_arms() {
    for (size_t i = best_.arms.size(); i-- > 0;) {
      schedule::Trace candidate = best_;
      candidate.arms.erase(candidate.arms.begin() + long(i));
      accept(candidate);
    }
  }

  // Takes out halves, quarters and so on down to single steps.
  void shrink_steps() {
    for (size_t size = std::max<size_t>(1, best_.steps.size() / 2); !spent(); size /= 2) {
      for (size_t at = best_.steps.size(); at > 0 && !spent();) {
        at = at > size ? at - size : 0;
        if (at >= best_.steps.size()) continue;
        schedule::Trace candidate = best_;
        size_t end = std::min(at + size, candidate.steps.size());
        candidate.steps.erase(candidate.steps.begin() + long(at),
                              candidate.steps.begin() + long(end));
        accept(candidate);
      }
      if (size <= 1) return;
    }
  }

  // Answers other than the canonical one, 0, made 0.
  void shrink_choices() {
    for (size_t size = std::max<size_t>(1, best_.choices.size() / 2); !spent(); size /= 2) {
      for (size_t at = 0; at < best_.choices.size() && !spent(); at += size) {
        schedule::Trace candidate = best_;
        auto from = candidate.choices.begin() + long(at);
        auto to = candidate.choices.begin() + long(std::min(at + size, candidate.choices.size()));
        if (std::all_of(from, to, [](uint32_t c) { return c == 0; })) continue;
        std::fill(from, to, 0);
        accept(candidate);
      }
      if (size <= 1) return;
    }
  }

  const vgpu::JobSpec& job_;
  const std::function<bool(const vgpu::Outcome&)>& still_;
  const Options& options_;
  schedule::Trace best_, recorded_;
  uint64_t cost_ = 0;
  Minimized out_;
};

} // namespace

Result<Minimized> minimize(const vgpu::JobSpec& job, const schedule::Trace& trace,
                           const std::function<bool(const vgpu::Outcome&)>& still,
                           const Options& options) {
  return Minimizer(job, still, options).run(trace);
}

} // namespace assay::explore
