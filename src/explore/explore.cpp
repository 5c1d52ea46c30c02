// The plan of an exploration and its verdicts; see explore.hpp.
#include "explore/explorer.hpp"

#include "explore/unwritten.hpp"

#include <utility>

namespace assay::explore {

Report Explorer::run() {
  first_run("canonical");
  if (report_.unknown.empty() || !pairs_.list().empty()) {
    if (!found_enough()) {
      uninitialised();
      open_uses({"canonical", options_.seed, {}}, report_.first);
      settle_proof();
    }
    if (!report_.proved && !found_enough()) {
      other_policies();
      if (options_.directed) {
        directed();
        fence_orders();
        last_of_all();
        miss_together();
        more_seeds();
        directed(); // what these runs have shown
        count_unturned();
      }
      if (given_up_)
        report_.not_reached.push_back(fmt::format(
            "{} runs with an access held back, in which others polled for long", given_up_));
      torn_vectors();
    }
  }
  if (!found_enough()) blame_misses();
  conclude(job_, pairs_, differing_runs_, report_);
  float_order();
  return std::move(report_);
}

Report Explorer::once(const std::string& policy) {
  first_run(policy);
  uninitialised();
  open_uses({policy, options_.seed, {}}, report_.first);
  conclude(job_, pairs_, differing_runs_, report_);
  return std::move(report_);
}

void Explorer::first_run(const std::string& policy) {
  report_.first = perform(job_, {policy, options_.seed, {}, {}, options_.detect}, options_);
  report_.first_trace = report_.first.trace;
  ++report_.schedules;
  take_events(report_.first, policy);
  take_conflicts(report_.first, policy);
  for (const vgpu::RunNote& n : report_.first.notes) // a hang relies on nothing
    if (report_.first.completed || n.kind != "relies-on-residency")
      add_note(n.kind, n.message, n.places);
}

bool Explorer::found_enough() {
  if (!options_.until_found || report_.cut_short) return report_.cut_short;
  report_.cut_short =
      options_.expected && report_.first.completed && report_.first.digest != *options_.expected;
  // These two may be a race's doing, and that one without consequence (conclude.cpp).
  for (const Finding& f : report_.findings)
    report_.cut_short |= f.severity == Severity::error && f.kind != "uninitialised-read" &&
                         f.kind != "nondeterministic";
  // What no reversal makes harmless. One that could not be run is no such thing: that of another
  // instance may be.
  for (const std::vector<Pair>& instances : pairs_.list())
    for (const Pair& p : instances)
      if (!p.is_order() && (!p.value_race || p.differs))
        report_.cut_short |= p.differs || p.unwritten || !p.other_trace.steps.empty() ||
                             loses_updates(p.conflict) || defies_orders(p.conflict);
  return report_.cut_short;
}

void Explorer::add_note(const std::string& kind, const std::string& message,
                        const std::vector<vgpu::Place>& places) {
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

void Explorer::take_events(const vgpu::Outcome& out, const std::string& policy) {
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

void Explorer::take_conflicts(const vgpu::Outcome& out, const std::string& policy) {
  if (pairs_.take(out, policy)) report_.race_free = false;
}

void Explorer::compare(const vgpu::Outcome& out, const Planned& plan) {
  if (plan.vary.open) return; // other values may leave other bytes; take_turned() knows with which
  if (!out.completed || !report_.first.completed || out.digest == report_.first.digest) return;
  report_.deterministic = false;
  if (differing_plans_.size() < kMostFloatRuns) differing_plans_.push_back(plan);
  if (differing_runs_.size() < 8)
    differing_runs_.push_back(
        {plan.policy, out.trace, out.digest, differences(report_.first, out), out.missed_reads});
}

void Explorer::take_directed(const Planned& plan, const vgpu::Outcome& out) {
  take_events(out, plan.policy);
  compare(out, plan);
}

void Explorer::take_schedule(const Planned& plan, const vgpu::Outcome& out) {
  take_events(out, plan.policy);
  take_conflicts(out, plan.policy);
  compare(out, plan);
  open_uses(plan, out);
}

void Explorer::float_order() {
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

void Explorer::uninitialised() {
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
  if (report_.first.completed) return;
  // What nobody has written yet may be an index, and its access beyond a buffer's end stops the run
  // before the write comes that a barrier should have put first. With zeros it goes on.
  const Planned zeros{"canonical", options_.seed, {}, vgpu::Poison::zero, options_.detect};
  const vgpu::Outcome out = perform(job_, zeros, options_);
  ++report_.schedules;
  if (out.completed) take_conflicts(out, zeros.policy);
}

void Explorer::open_uses(Planned plan, const vgpu::Outcome& out) {
  plan.detect = options_.detect;
  for (OpenUse& u : open_uses_.settle(job_, plan, out, options_)) {
    bool by_time = u.use.kind == vgpu::EventKind::nondeterministic;
    if (!u.matters) {
      if (u.use.opaque) continue;
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
  for (const OpenUses::Shown& s : std::exchange(open_uses_.shown, {})) {
    take_events(s.out, s.policy);
    if (s.out.completed) take_conflicts(s.out, s.policy);
  }
  report_.schedules += std::exchange(open_uses_.runs, 0);
  for (const vgpu::Event& e : open_uses_.unfinished.events)
    if (inconclusive(e.kind) && report_.unknown.empty()) report_.unknown = reason(job_, e);
}

void Explorer::settle_proof() {
  const vgpu::Outcome& o = report_.first;
  report_.not_proved = o.proof.why_not;
  if (!o.completed) report_.not_proved.push_back("the run did not complete");
  if (!options_.detect) report_.not_proved.push_back("race detection was off");
  if (pairs_.unsettled()) report_.not_proved.push_back("conflicting accesses were found");
  if (order_of_fences_matters())
    report_.not_proved.push_back("accesses were found that only the order of fences keeps apart");
  // Of the run's own doubts one is of values that the manual leaves open, whatever the schedule.
  const bool open = std::any_of(o.unspecified.begin(), o.unspecified.end(),
                                [](const vgpu::Event& e) { return !e.opaque; });
  report_.one_order = report_.not_proved.size() == size_t(open);
  if (!o.uninitialised_reads.empty()) report_.not_proved.push_back("uninitialised memory was read");
  if (report_.not_proved.empty()) report_.not_proved = address_uses(job_);
  report_.proved = report_.not_proved.empty();
}

bool Explorer::order_of_fences_matters() {
  if (!report_.first.fences_met || !options_.detect) return false;
  Planned plan{"canonical", options_.seed, {}, {}, true};
  plan.fence_order = false;
  unfenced_ = perform(job_, plan, options_);
  ++report_.schedules;
  unfenced_.memory.clear();
  unfenced_.initialised.clear();
  unfenced_.written.clear();
  Pairs all(job_);
  all.take(unfenced_, "canonical");
  // The phases of barriers may be kept apart by fences as well.
  return all.unsettled() || unfenced_.proof.why_not.size() > report_.first.proof.why_not.size();
}

void Explorer::other_policies() {
  std::vector<std::string> names =
      options_.policies.empty() ? schedule::policy_names() : options_.policies;
  std::vector<Planned> plans;
  for (const std::string& name : names) {
    if (name == "canonical") continue;
    // Without strong accesses there is nothing that a read may miss, or that may be late.
    if ((name == "weak-memory" || name == "late-writes") && options_.policies.empty() &&
        !report_.first.strong)
      continue;
    if (options_.policies.empty() && schedule::is_for_copies(name) && !copies_asynchronously(job_))
      continue;
    bool seeded = name != "reverse";
    for (uint32_t k = 0; k < (seeded ? options_.runs_per_policy : 1); ++k)
      plans.push_back({name, options_.seed + k, {}, {}, options_.detect});
  }
  // Other clocks under other schedules, where there is a clock.
  if (!report_.first.time_reads.empty())
    for (size_t i = 0; i < plans.size(); ++i) plans[i].vary.time = uint8_t(i % 3);
  run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) { take_schedule(plan, out); });
}

void Explorer::more_seeds() {
  if (!options_.policies.empty() || !report_.first.completed || !pairs_.at_stake()) return;
  static constexpr const char* kStrong[] = {"weak-memory", "pct", "weak-memory", "random"};
  static constexpr const char* kPlain[] = {"random", "pct", "cta-shuffle", "pct"};
  const uint64_t cost = report_.first.thread_instructions + kRunOverhead;
  const uint64_t runs = std::min(kMoreSeeds, kMoreInstructions / cost);
  // Of the lanes of one warp only few are turned against each other: the others fall apart by luck.
  auto policy = [&](uint64_t i) {
    if (pairs_.within_warp() && i % 8 == 7) return "lane-split";
    return (report_.first.strong ? kStrong : kPlain)[i % 4];
  };
  const size_t width = 8; // runs between two looks at whether something differs
  for (uint64_t k = 0; k < runs; k += width) {
    if (!report_.deterministic || !report_.race_free || !report_.findings.empty() || out_of_time())
      return;
    std::vector<Planned> plans;
    const uint64_t seed = options_.seed + options_.runs_per_policy;
    for (uint64_t i = k; i < std::min(runs, k + width); ++i) {
      plans.push_back({policy(i), seed + i / 4 * 2 + (i % 4 >= 2), {}, {}, options_.detect});
      if (report_.first.strong && i % 2 == 1)
        plans.push_back({"late-writes", seed + i / 2, {}, {}, options_.detect});
    }
    run_plans(plans, [&](const Planned& plan, vgpu::Outcome& out) { take_schedule(plan, out); });
  }
}

void Explorer::torn_vectors() {
  if (report_.first.torn.empty() || !report_.deterministic || !report_.first.completed ||
      (!options_.policies.empty() && !options_.tear_vectors))
    return;
  std::vector<Planned> plans;
  constexpr uint32_t kTimes = 4; // others have further seeds, by which they are found
  for (uint32_t k = 0; k < kTimes * options_.runs_per_policy; ++k)
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
