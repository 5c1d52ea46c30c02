// One exploration at work: what it plans, takes from its runs and reports. explore.cpp has the
// plan, directed.cpp the runs in which accesses are held back.
//
// Runs of one job are independent, so they are spread over the cores; results are taken in the
// order of the plan, whatever finished first, so that the same input and seed give the same report.
#pragma once

#include "explore/alone.hpp"
#include "explore/conclude.hpp"
#include "explore/open_uses.hpp"
#include "explore/pairs.hpp"
#include "explore/plan.hpp"
#include "explore/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace assay::explore {

class Explorer {
public:
  // `schedules`: is the question whether they make a difference?
  Explorer(const vgpu::JobSpec& job, const Options& options, bool schedules)
      : job_(job), options_(options), start_(std::chrono::steady_clock::now()), pairs_(job),
        alone_(job, options), open_uses_(schedules), directed_left_(options.directed_runs) {}

  Report run();
  Report once(const std::string& policy);

private:
  void first_run(const std::string& policy);
  bool out_of_time() const {
    return options_.seconds > 0 &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >
               options_.seconds;
  }

  // Options::until_found: is there a finding by now that no further run can take back?
  bool found_enough();

  void add_note(const std::string& kind, const std::string& message,
                const std::vector<vgpu::Place>& places = {});
  void take_events(const vgpu::Outcome& out, const std::string& policy);
  void take_conflicts(const vgpu::Outcome& out, const std::string& policy);
  void compare(const vgpu::Outcome& out, const Planned& plan);
  void take_directed(const Planned& plan, const vgpu::Outcome& out); // of pairs that are known
  void take_schedule(const Planned& plan, const vgpu::Outcome& out); // all that a run shows

  // Is it only that floating-point atomics round differently in another order? Then the outcomes
  // agree once the atomics to each location are applied in one order.
  void float_order();

  // Reads of what nobody wrote matter when the outcome, a branch or an address follows the fill.
  void uninitialised();

  // Uses of values that the manual leaves open, or that time and placement decide.
  void open_uses(Planned plan, const vgpu::Outcome& out);
  void settle_proof();
  // Does a run without the edges between fence.sc show conflicts?
  bool order_of_fences_matters();
  void other_policies();

  // What needs several coincidences (a preemption and two missed writes, one order of three blocks
  // out of six) takes luck. While nothing differs and a run costs next to nothing, further seeds
  // are tried of the policies that can bring it about.
  void more_seeds();

  // Would it make a difference if vector accesses were not one access? Unless that is asked for, it
  // is a note: hardware performs aligned ones of up to 16 bytes at once, though nobody promises it.
  void torn_vectors();
  // While an access is held, others may poll for long: such a run is given up early, and told as
  // one that was not reached.
  Planned limited(Planned plan) const;
  void gave_up(const Planned& plan, vgpu::Outcome& out);
  template <class F> void run_plans(const std::vector<Planned>& plans, F take) {
    std::vector<vgpu::Outcome> outcomes(plans.size());
    // In chunks, so that few outcomes (each holds all of memory) are alive at once.
    size_t width = options_.threads ? options_.threads : default_threads();
    for (size_t from = 0; from < plans.size(); from += width) {
      if (found_enough()) return;
      if (out_of_time()) {
        report_.not_reached.push_back(
            fmt::format("{} of {} planned runs", plans.size() - from, plans.size()));
        return;
      }
      size_t n = std::min(width, plans.size() - from);
      parallel(n, width, [&](size_t i) {
        outcomes[from + i] = perform(job_, limited(plans[from + i]), options_);
      });
      for (size_t i = 0; i < n; ++i) {
        ++report_.schedules;
        gave_up(plans[from + i], outcomes[from + i]);
        take(plans[from + i], outcomes[from + i]);
        outcomes[from + i] = {};
      }
    }
  }

  // The other order of each conflict: the first access is held back until the second has run.
  // First one instance of every pair of operations, then further ones of those that made no
  // difference. What a turned order of strong accesses shows joins the list.
  void directed();

  void count_unturned(); // those that were left out

  // A value race leaves the same bytes in any order: that needs no run, unless somebody wants one.
  bool turnable(const Pair& p) const { return !p.value_race || options_.value_races; }

  // Of each pair of operations that made no difference yet the first instance, up to this one, that
  // was not turned round.
  std::vector<Pair*> untried(size_t instance);
  // A launch's operation, an agent's lane at one of its times.
  using Moment = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;
  static Moment moment(const Pair& p, const race::Side& side) {
    return {p.launch, side.info.pc, side.agent.cta, side.agent.warp, side.lane, side.time};
  }
  struct Shown { // what joins the list of pairs once nobody holds places in it
    Shown(vgpu::Outcome& from, const Planned& by) : policy(by.policy), arms(by.arms) {
      out.conflicts = std::move(from.conflicts);
      out.uninitialised_reads = std::move(from.uninitialised_reads);
      out.trace = std::move(from.trace);
      out.digest = from.digest;
      out.completed = from.completed;
    }
    vgpu::Outcome out;
    std::string policy;
    std::vector<vgpu::Arm> arms;
  };

  void reverse(const std::vector<Pair*>& all);

  // Behind a held access all may go another way than in the run that showed the pair: where the
  // second one did not come, others of their operations are tried, under schedules without luck and
  // with lanes apart.
  void reverse_anyhow(const std::vector<Pair*>& pairs, std::vector<Shown>& shown);

  bool may_miss(const Pair& p) const;

  // May the read, or a write that a plain store then overwrites, miss the first write? Another
  // question than whether it can come first: it may wait for something that follows the write, or
  // have read something that does.
  void miss(const std::vector<Pair*>& pairs, std::vector<Shown>& shown, bool hold_fences);

  // Does it make a difference when an atomic update whose result nobody uses takes effect as late
  // as it may? What its thread does next does not wait for it.
  void postpone(const std::vector<Pair*>& pairs, std::vector<Shown>& shown);
  bool may_be_late(const Pair& p) const;

  // Of writes to one place the last one stays, whatever the order of the others: each write of a
  // pair that made no difference is held until nobody else can run.
  void last_of_all();

  // The order in which fence.sc execute is the schedule's too, and hides conflicts: what is only
  // ordered by it is run the other way round.
  void fence_orders();

  // Two reads that each miss a write, where one of them alone makes no difference.
  void miss_together();

  // Where only random runs differ: which write, had its read not missed it, would leave the usual
  // bytes? That pair joins the list.
  void blame_misses();
  bool blame_one(const DifferingRun& run);
  bool blame_operations(const DifferingRun& run);
  bool without(const DifferingRun& run,
               const std::vector<const vgpu::Outcome::MissedRead*>& missed);
  // What the run of a pair in the other order left.
  void take_turned(Pair& p, const vgpu::Outcome& out);
  Planned reversal(const Pair& p) const;

  const vgpu::JobSpec& job_;
  const Options& options_;
  std::chrono::steady_clock::time_point start_;
  Report report_;
  Pairs pairs_;
  Alone alone_;
  OpenUses open_uses_;
  size_t directed_left_; // runs
  std::set<Moment> postponed_;
  struct Overtaken { // a late update that another access than that of the tried pair came before
    vgpu::Outcome::MissedRead by;
    schedule::Trace usual_trace;
    Digest usual;
    DifferingRun run;
  };
  std::vector<Overtaken> overtaken_;
  std::vector<DifferingRun> differing_runs_;
  vgpu::Outcome unfenced_; // of the canonical run without edges between fence.sc: its conflicts
  uint64_t given_up_ = 0;  // runs with held accesses
  static constexpr size_t kMostFloatRuns = 16, kMostMissed = 10;
  static constexpr size_t kBatch = 8; // pairs turned before until_found looks again
  static constexpr uint64_t kMoreSeeds = 512, kMoreInstructions = 10000000, kRunOverhead = 20000;
  std::vector<Planned> differing_plans_; // the first of them
};

} // namespace assay::explore
