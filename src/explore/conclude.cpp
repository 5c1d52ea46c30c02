// Findings and notes from conflicts and differing outcomes; see conclude.hpp.
#include "explore/conclude.hpp"

#include "explore/plan.hpp"
#include "explore/shapes.hpp"

#include <algorithm>
#include <iterator>

namespace assay::explore {

namespace {

class Conclusion {
public:
  Conclusion(const vgpu::JobSpec& job, Pairs& pairs, const std::vector<DifferingRun>& differing,
             Report& report)
      : job_(job), pairs_(pairs), differing_runs_(differing), report_(report) {}

  void draw() {
    std::vector<Finding> races;
    bool race_differs = judge_pairs(races);
    // If some run differs, no race of this job can be called harmless on the strength of one
    // reversal.
    if (!report_.deterministic && !race_differs)
      for (Finding& f : races)
        if (f.kind == "race-without-consequence" && f.differing.empty() &&
            !differing_runs_.empty()) {
          f.kind = "race";
          f.severity = Severity::error;
          adopt(f);
        }
    drop_consequences(races);
    arrivals_last(races);
    report_.findings.insert(report_.findings.begin(), std::make_move_iterator(races.begin()),
                            std::make_move_iterator(races.end()));
    explain_difference();
  }

private:
  Finding finding(const Pair& p) const {
    Finding f;
    f.is_conflict = true;
    f.conflict = p.conflict;
    f.launch = p.launch + p.conflict.first.grid;
    f.places = {place_of(job_, p.launch, p.conflict, p.conflict.first),
                place_of(job_, p.launch, p.conflict, p.conflict.second)};
    f.missing_edge = p.conflict.first.grid != p.conflict.second.grid
                         ? missing_between(job_, p.launch, p.conflict)
                         : missing_edge(p.conflict, p.missed && p.differs);
    f.both_orders = p.reversed;
    f.missed = p.missed && p.differs;
    f.one_order_impossible = p.tried && !p.reversed;
    f.differing = p.differing;
    f.traces = {p.trace};
    f.outcome_a = p.outcome;
    if (p.differs || p.other_trace.steps.size()) {
      f.traces.push_back(p.other_trace);
      f.outcome_b = p.other;
    }
    f.policy = p.policy;
    return f;
  }

  // Findings and notes of what conflicts; true: the orders of some race leave different bytes.
  bool judge_pairs(std::vector<Finding>& races) {
    bool race_differs = false;
    for (const std::vector<Pair>& instances : pairs_.list()) {
      const Pair* best = &most_telling(instances);
      Finding f = finding(*best);
      f.reach = reach(instances);
      if (best->value_race && !best->differs) {
        f.kind = "value-race";
        f.severity = Severity::note;
        report_.notes.push_back(std::move(f));
        continue;
      }
      if (best->is_order()) {
        // Updates that commute leave the same in any order: others make the difference, who read
        // between them, say. They are candidates where nobody else is (explain_difference).
        const bool commutes = pairs_.commuting(*best) && !differing_runs_.empty();
        if (best->differs && commutes) report_.deterministic = false;
        if (best->differs && !commutes && !pairs_.is_race_of(*best) &&
            !pairs_.is_behind_race(*best)) {
          f.kind = "nondeterministic";
          report_.deterministic = false;
          races.push_back(std::move(f));
        } else {
          f.kind = "order-conflict";
          f.severity = Severity::note;
          report_.notes.push_back(std::move(f));
        }
        continue;
      }
      report_.race_free = false;
      if (best->differs) {
        race_differs = true;
        report_.deterministic = false;
      }
      // An order in which somebody waits for ever, or goes astray, is no order that changes
      // nothing.
      bool stuck = std::any_of(instances.begin(), instances.end(), [](const Pair& p) {
        return !p.differs && !p.other_trace.steps.empty();
      });
      // What is read there before it is written may swallow everything, as a NaN does.
      bool unwritten = std::any_of(instances.begin(), instances.end(),
                                   [](const Pair& p) { return p.unwritten; });
      bool harmless = best->tried && best->reversed && !best->differs && !stuck && !unwritten &&
                      report_.deterministic && !loses_updates(best->conflict) &&
                      !defies_orders(best->conflict);
      f.kind = harmless ? "race-without-consequence" : "race";
      f.severity = harmless ? Severity::warning : Severity::error;
      races.push_back(std::move(f));
    }
    return race_differs;
  }

  // Which of several comes first to a counter may differ only since who reads does; so it stands
  // behind what reads, or races.
  void arrivals_last(std::vector<Finding>& races) const {
    std::vector<Finding> first, last;
    for (Finding& f : races) (is_arrival(f) ? last : first).push_back(std::move(f));
    races = std::move(first);
    races.insert(races.end(), std::make_move_iterator(last.begin()),
                 std::make_move_iterator(last.end()));
  }
  bool is_arrival(const Finding& f) const {
    const race::AccessInfo &a = f.conflict.first.info, &b = f.conflict.second.info;
    if (f.kind != "nondeterministic" || f.conflict.first.grid != f.conflict.second.grid)
      return false;
    const ir::Program& program = *job_.launches[f.launch].program;
    return a.atomic && b.atomic && !takes(program, a.pc, b.pc) && !takes(program, b.pc, a.pc);
  }

  // What other findings are only because of conflicts whose order makes a difference.
  void drop_consequences(const std::vector<Finding>& races) {
    // Where accesses in another order make a difference, what time decides may do so by that order.
    std::erase_if(report_.findings, [&](const Finding& f) {
      bool by_time = f.kind == "nondeterministic" && !f.is_conflict && f.places.size() == 1;
      return by_time && std::any_of(races.begin(), races.end(),
                                    [](const Finding& r) { return !r.differing.empty(); });
    });
    // What a racing load reads may not have been written yet: that is the race's doing.
    std::erase_if(report_.findings, [&](const Finding& f) {
      if (f.kind != "uninitialised-read") return false;
      for (const Finding& r : races)
        for (const vgpu::Place& at : r.places)
          if (at.pc == f.places[0].pc && at.launch == f.places[0].launch) return true;
      return false;
    });
  }

  // Runs that differ without a conflict that was found to make the difference.
  void explain_difference() {
    bool explained = false;
    for (const Finding& f : report_.findings)
      explained |= f.kind == "race" ||
                   f.kind == "nondeterministic" || // nothing defines what differs
                   f.kind == "unspecified-value" || f.kind == "uninitialised-read";
    if (!report_.deterministic && !explained && !differing_runs_.empty()) {
      Finding f;
      f.kind = "nondeterministic";
      f.message = "two schedules leave different bytes";
      adopt(f);
      if (const Finding* n = candidate()) {
        f.places = n->places;
        f.conflict = n->conflict;
        f.is_conflict = true;
        f.launch = n->launch;
        f.missing_edge = n->missing_edge;
      }
      report_.findings.push_back(std::move(f));
    }
  }

  // The order conflicts seen are the only candidates for the cause: of those that commute only
  // where there is no other.
  const Finding* candidate() const {
    const Finding* any = nullptr;
    for (const Finding& n : report_.notes) {
      if (n.kind != "order-conflict") continue;
      if (!pairs_.commuting(n.launch - n.conflict.first.grid, n.conflict)) return &n;
      if (!any) any = &n;
    }
    return any;
  }

  void adopt(Finding& f) const {
    const DifferingRun& d = differing_runs_[0];
    f.differing = d.differing;
    f.traces = {report_.first_trace, d.trace};
    f.outcome_a = report_.first.digest;
    f.outcome_b = d.digest;
    f.policy = d.policy;
  }

  const vgpu::JobSpec& job_;
  Pairs& pairs_;
  const std::vector<DifferingRun>& differing_runs_;
  Report& report_;
};

} // namespace

void conclude(const vgpu::JobSpec& job, Pairs& pairs, const std::vector<DifferingRun>& differing,
              Report& report) {
  Conclusion(job, pairs, differing, report).draw();
}

} // namespace assay::explore
