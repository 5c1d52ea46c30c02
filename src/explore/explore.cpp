// The plan of an exploration and its verdicts; see explore.hpp.
//
// Runs of one job are independent, so they are spread over the cores; results are taken in the
// order of the plan, whatever finished first, so that the same input and seed give the same report.
#include "explore/explore.hpp"

#include "explore/alone.hpp"
#include "explore/conclude.hpp"
#include "explore/open_uses.hpp"
#include "explore/plan.hpp"
#include "explore/pool.hpp"
#include "explore/unwritten.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace assay::explore {

namespace {

using race::Conflict;
using Clock = std::chrono::steady_clock;

class Explorer {
public:
  // `schedules`: is the question whether they make a difference?
  Explorer(const vgpu::JobSpec& job, const Options& options, bool schedules)
      : job_(job), options_(options), start_(Clock::now()), pairs_(job), alone_(job, options),
        open_uses_(schedules) {}

  Report run() {
    first_run("canonical");
    if (report_.unknown.empty() || !pairs_.list().empty()) {
      uninitialised();
      open_uses({"canonical", options_.seed, {}}, report_.first);
      settle_proof();
      if (!report_.proved) {
        other_policies();
        if (options_.directed) directed();
        torn_vectors();
      }
    }
    conclude(job_, pairs_, differing_runs_, report_);
    float_order();
    return std::move(report_);
  }

  Report once(const std::string& policy) {
    first_run(policy);
    uninitialised();
    open_uses({policy, options_.seed, {}}, report_.first);
    conclude(job_, pairs_, differing_runs_, report_);
    return std::move(report_);
  }

private:
  void first_run(const std::string& policy) {
    report_.first = perform(job_, {policy, options_.seed, {}, {}, options_.detect}, options_);
    report_.first_trace = report_.first.trace;
    ++report_.schedules;
    take_events(report_.first, policy);
    take_conflicts(report_.first, policy);
    for (const vgpu::RunNote& n : report_.first.notes) // a hang relies on nothing
      if (report_.first.completed || n.kind != "relies-on-residency")
        add_note(n.kind, n.message, n.places);
  }

  bool out_of_time() const {
    return options_.seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - start_).count() > options_.seconds;
  }

  void add_note(const std::string& kind, const std::string& message,
                const std::vector<vgpu::Place>& places = {}) {
    for (const Finding& n : report_.notes)
      if (n.kind == kind && n.message == message) return;
    Finding f;
    f.kind = kind;
    f.severity = Severity::note;
    f.message = message;
    f.places = places;
    f.launch = places.empty() ? 0 : places[0].launch;
    report_.notes.push_back(std::move(f));
  }

  void take_events(const vgpu::Outcome& out, const std::string& policy) {
    for (const vgpu::Event& e : out.events) {
      if (inconclusive(e.kind)) {
        if (report_.unknown.empty()) report_.unknown = reason(job_, e);
        continue;
      }
      // Hardware starts blocks in the order of their indices, though nobody promises it.
      if (e.starved && report_.first.completed) {
        add_note("relies-on-cta-order",
                 "blocks wait for others of a lower index: when blocks start in another order, all "
                 "that are resident may wait for one that has no room",
                 e.places);
        continue;
      }
      // It ends under one schedule and not under another.
      if (report_.first.completed &&
          (e.kind == vgpu::EventKind::hang || e.kind == vgpu::EventKind::deadlock))
        report_.deterministic = false;
      Finding f;
      f.kind = vgpu::kind_name(e.kind);
      f.message = e.message;
      f.places = e.places;
      f.launch = e.places.empty() ? 0 : e.places[0].launch;
      f.traces = {out.trace};
      f.policy = policy;
      bool known = false;
      for (const Finding& g : report_.findings)
        known |= g.kind == f.kind && !g.places.empty() && !f.places.empty() &&
                 g.places[0].pc == f.places[0].pc;
      if (!known) report_.findings.push_back(std::move(f));
    }
  }

  void take_conflicts(const vgpu::Outcome& out, const std::string& policy) {
    if (pairs_.take(out, policy)) report_.race_free = false;
  }

  void compare(const vgpu::Outcome& out, const Planned& plan) {
    if (!out.completed || !report_.first.completed || out.digest == report_.first.digest) return;
    report_.deterministic = false;
    if (differing_plans_.size() < kMostFloatRuns) differing_plans_.push_back(plan);
    if (differing_runs_.size() < 8)
      differing_runs_.push_back(
          {plan.policy, out.trace, out.digest, differences(report_.first, out)});
  }

  // Is it only that floating-point atomics round differently in another order? Then the outcomes
  // agree once the atomics to each location are applied in one order.
  void float_order() {
    if (report_.deterministic || !report_.race_free || differing_plans_.empty()) return;
    for (const Finding& f : report_.findings)
      if (f.kind != "nondeterministic" || !f.is_conflict) return;
    Planned plan{"canonical", options_.seed, {}, {}, options_.detect};
    plan.one_float_order = true;
    const vgpu::Outcome one = perform(job_, plan, options_);
    bool agree = one.completed;
    for (Planned& p : differing_plans_) p.one_float_order = true;
    run_plans(differing_plans_, [&](const Planned&, vgpu::Outcome& out) {
      agree &= out.completed && out.digest == one.digest;
    });
    report_.fp_atomic_order = agree && !out_of_time();
    if (report_.fp_atomic_order)
      add_note("fp-atomic-order",
               fmt::format("{} outcomes that differ agree when the floating-point atomics to each "
                           "location are applied in one order: rounding makes the difference",
                           differing_plans_.size() + 1));
  }

  // Reads of what nobody wrote matter when the outcome, a branch or an address follows the fill.
  void uninitialised() {
    if (report_.first.uninitialised_reads.empty()) return;
    for (UnwrittenRead& u :
         settle_unwritten(job_, report_.first.uninitialised_reads, options_, report_.schedules)) {
      const vgpu::Event& e = u.read;
      if (!u.matters) {
        // Other contents may still matter: no independence is claimed.
        add_note("uninitialised-padding",
                 fmt::format("{}; no difference was seen with {} fills, all zero among them",
                             e.message, vgpu::kPoisons),
                 e.places);
        continue;
      }
      Finding f;
      f.kind = vgpu::kind_name(e.kind);
      f.message = e.message + ", and the result depends on it";
      f.places = e.places;
      f.launch = e.places[0].launch;
      f.differing = u.differing;
      f.traces = {report_.first.trace};
      if (!u.other.steps.empty()) f.traces.push_back(u.other);
      f.policy = "canonical";
      report_.findings.push_back(std::move(f));
      report_.follows_open_values = true;
    }
  }

  // Uses of values that the manual leaves open, or that time and placement decide.
  void open_uses(Planned plan, const vgpu::Outcome& out) {
    plan.detect = options_.detect;
    for (OpenUse& u : open_uses_.settle(job_, plan, out, options_)) {
      bool by_time = u.use.kind == vgpu::EventKind::nondeterministic;
      if (!u.matters) {
        add_note(by_time ? "time-unused" : "unspecified-unused",
                 u.use.message +
                     (by_time ? ", which time and placement decide; others left the same bytes"
                              : "; other values left the same bytes"),
                 u.use.places);
        continue;
      }
      Finding f;
      f.kind = vgpu::kind_name(u.use.kind);
      f.message = u.use.message + ", and the result depends on it";
      f.places = u.use.places;
      f.launch = u.use.places[0].launch;
      const vgpu::Outcome& usual = u.usual ? *u.usual : out;
      f.differing = differences(usual, *u.other);
      f.traces = {usual.trace, u.other->trace};
      f.outcome_a = usual.digest;
      f.outcome_b = u.other->digest;
      f.policy = plan.policy;
      if (by_time)
        report_.deterministic = false;
      else
        report_.follows_open_values = true;
      report_.findings.push_back(std::move(f));
    }
    report_.schedules += std::exchange(open_uses_.runs, 0);
    for (const vgpu::Event& e : open_uses_.unfinished.events)
      if (inconclusive(e.kind) && report_.unknown.empty()) report_.unknown = reason(job_, e);
  }

  void settle_proof() {
    const vgpu::Outcome& o = report_.first;
    report_.not_proved = o.proof.why_not;
    if (!o.completed) report_.not_proved.push_back("the run did not complete");
    if (!options_.detect) report_.not_proved.push_back("race detection was off");
    if (pairs_.unsettled()) report_.not_proved.push_back("conflicting accesses were found");
    if (!o.uninitialised_reads.empty())
      report_.not_proved.push_back("uninitialised memory was read");
    if (report_.not_proved.empty()) report_.not_proved = address_uses(job_);
    report_.proved = report_.not_proved.empty();
  }

  void other_policies() {
    std::vector<std::string> names =
        options_.policies.empty() ? schedule::policy_names() : options_.policies;
    std::vector<Planned> plans;
    for (const std::string& name : names) {
      if (name == "canonical") continue;
      // Without strong accesses there is nothing that a read may miss.
      if (name == "weak-memory" && options_.policies.empty() && !report_.first.strong) continue;
      if (options_.policies.empty() && schedule::is_for_copies(name) &&
          !copies_asynchronously(job_))
        continue;
      bool seeded = name != "reverse";
      for (uint32_t k = 0; k < (seeded ? options_.runs_per_policy : 1); ++k)
        plans.push_back({name, options_.seed + k, {}, {}, options_.detect});
    }
    // Other clocks under other schedules, where there is a clock.
    if (!report_.first.time_reads.empty())
      for (size_t i = 0; i < plans.size(); ++i) plans[i].vary.time = uint8_t(i % 3);
    run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
      take_events(out, plan.policy);
      take_conflicts(out, plan.policy);
      compare(out, plan);
      open_uses(plan, out);
    });
  }

  // Would it make a difference if vector accesses were not one access? Unless that is asked for, it
  // is a note: hardware performs aligned ones of up to 16 bytes at once, though nobody promises it.
  void torn_vectors() {
    if (report_.first.torn.empty() || !report_.deterministic || !report_.first.completed ||
        (!options_.policies.empty() && !options_.tear_vectors))
      return;
    std::vector<Planned> plans;
    for (uint32_t k = 0; k < options_.runs_per_policy; ++k)
      plans.push_back({"torn-vectors", options_.seed + k, {}, {}, options_.detect});
    bool differs = false;
    run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
      differs |= !out.completed || out.digest != report_.first.digest;
      if (options_.tear_vectors) compare(out, plan);
    });
    if (differs)
      add_note("relies-on-vector-atomicity",
               "the outcome differs when the elements of a strong vector load may come from "
               "different stores",
               report_.first.torn);
  }

  template <class F> void run_plans(const std::vector<Planned>& plans, F take) {
    std::vector<vgpu::Outcome> outcomes(plans.size());
    std::vector<char> done(plans.size(), 0);
    // In chunks, so that few outcomes (each holds all of memory) are alive at once.
    size_t width = options_.threads ? options_.threads : default_threads();
    for (size_t from = 0; from < plans.size(); from += width) {
      if (out_of_time()) {
        report_.not_reached.push_back(
            fmt::format("{} of {} planned runs", plans.size() - from, plans.size()));
        return;
      }
      size_t n = std::min(width, plans.size() - from);
      parallel(n, width,
               [&](size_t i) { outcomes[from + i] = perform(job_, plans[from + i], options_); });
      for (size_t i = 0; i < n; ++i) {
        ++report_.schedules;
        take(plans[from + i], outcomes[from + i]);
        outcomes[from + i] = {};
      }
    }
  }

  // The other order of each conflict: the first access is held back until the second has run.
  // First one instance of every pair of operations, then further ones of those that made no
  // difference. What a turned order of strong accesses shows joins the list.
  void directed() {
    size_t left = options_.directed_runs;
    for (size_t instance = 0; instance < 4;) {
      std::vector<Pair*> pairs = untried(instance);
      if (pairs.size() > left) pairs.resize(left);
      if (pairs.empty() || out_of_time()) {
        ++instance;
        continue;
      }
      left -= pairs.size();
      reverse(pairs);
    }
    size_t skipped = 0;
    for (const std::vector<Pair>& instances : pairs_.list())
      if (std::none_of(instances.begin(), instances.end(), [](auto& p) { return p.differs; }))
        for (const Pair& p : instances) skipped += !p.tried && turnable(p);
    if (skipped)
      report_.not_reached.push_back(fmt::format("{} further instances of conflicts", skipped));
  }

  // A value race leaves the same bytes in any order: that needs no run, unless somebody wants one.
  bool turnable(const Pair& p) const { return !p.value_race || options_.value_races; }

  // Of each pair of operations that made no difference yet the first instance, up to this one, that
  // was not turned round.
  std::vector<Pair*> untried(size_t instance) {
    std::vector<Pair*> found;
    for (std::vector<Pair>& instances : pairs_.list()) {
      if (std::any_of(instances.begin(), instances.end(), [](auto& p) { return p.differs; }))
        continue;
      for (size_t i = 0; i <= instance && i < instances.size(); ++i)
        if (!instances[i].tried && turnable(instances[i])) {
          found.push_back(&instances[i]);
          break;
        }
    }
    return found;
  }

  void reverse(const std::vector<Pair*>& all) {
    const std::vector<Pair*> pairs =
        options_.alone ? alone_.settle(all, pairs_, report_.first) : all;
    report_.schedules += all.size() - pairs.size();
    struct Shown { // what joins the list once nobody holds places in it
      vgpu::Outcome out;
      const Planned* plan;
    };
    std::vector<Planned> plans;
    std::vector<Shown> shown;
    for (const Pair* p : pairs) plans.push_back(reversal(*p));
    size_t at = 0;
    run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
      Pair& p = *pairs[at++];
      p.tried = true;
      p.reversed = out.arms_reversed || p.conflict.kind == Conflict::Kind::same_instruction;
      take_events(out, plan.policy);
      compare(out, plan);
      take_turned(p, out);
      // Behind a race that went the other way anything may follow: the race is the defect.
      if (!p.is_order() || !p.reversed) return;
      Shown& s = shown.emplace_back();
      s.plan = &plan;
      s.out.conflicts = std::move(out.conflicts);
      s.out.trace = std::move(out.trace);
      s.out.digest = out.digest;
      s.out.completed = out.completed;
    });
    miss(pairs);
    for (const Shown& s : shown)
      if (pairs_.take(s.out, s.plan->policy, s.plan->arms)) report_.race_free = false;
  }

  // May the read miss the write? Another question than whether it can come first: it may wait for
  // something that follows the write, or have read something that does.
  void miss(const std::vector<Pair*>& pairs) {
    std::vector<Pair*> writes;
    std::vector<Planned> plans;
    for (Pair* p : pairs) {
      const race::AccessInfo &first = p->conflict.first.info, &second = p->conflict.second.info;
      if (!p->is_order() || p->differs || !first.write || second.write) continue;
      writes.push_back(p);
      plans.push_back(reversal(*p));
      plans.back().arms.back().missed = true;
    }
    size_t at = 0;
    run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) {
      Pair& p = *writes[at++];
      take_events(out, plan.policy);
      compare(out, plan);
      if (!out.arms_reversed) return;
      p.reversed = p.missed = true;
      take_turned(p, out);
    });
  }

  // What the run of a pair in the other order left.
  void take_turned(Pair& p, const vgpu::Outcome& out) {
    if (!p.reversed) return;
    const Digest& usual = p.completed ? p.outcome : report_.first.digest; // what an end leaves
    if (out.completed && out.digest == usual) return;
    p.differs = out.completed;
    p.differing = out.completed ? differences(report_.first, out) : std::vector<Difference>{};
    p.other_trace = out.trace;
    p.other = out.digest;
    for (const auto& launch : out.conflicts)
      for (const Conflict& c : launch.conflicts)
        if (p.is_order() && launch.launch == p.launch && c.kind == Conflict::Kind::race)
          p.other_races.push_back(c);
  }

  Planned reversal(const Pair& p) const {
    Planned plan{p.policy, p.trace.seed, p.arms, {}, true};
    const schedule::Trace::Vary& vary = p.trace.vary; // all else as in the run that showed it
    plan.vary = {uint8_t(vary.open), uint8_t(vary.time), vary.launch, vary.pc};
    if (p.conflict.kind == Conflict::Kind::same_instruction) {
      plan.policy = p.policy == "reverse" ? "canonical" : "reverse";
      return plan;
    }
    plan.arms.push_back(arm_of(p));
    return plan;
  }

  const vgpu::JobSpec& job_;
  const Options& options_;
  Clock::time_point start_;
  Report report_;
  Pairs pairs_;
  Alone alone_;
  OpenUses open_uses_;
  std::vector<DifferingRun> differing_runs_;
  static constexpr size_t kMostFloatRuns = 16;
  std::vector<Planned> differing_plans_; // the first of them
};

} // namespace

namespace {
Options timed(Options options) {
  if (options.seconds > 0) options.deadline = vgpu::monotonic_seconds() + options.seconds;
  return options;
}
} // namespace

Report explore(const vgpu::JobSpec& job, const Options& options) {
  const Options limited = timed(options);
  return Explorer(job, limited, true).run();
}

Report run_once(const vgpu::JobSpec& job, const std::string& policy, const Options& options) {
  const Options limited = timed(options);
  return Explorer(job, limited, false).once(policy);
}

} // namespace assay::explore
