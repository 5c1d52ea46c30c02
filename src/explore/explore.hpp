// Exploration: decides from several runs whether a job's outcome depends on the schedule.
//
// One canonical run with detection; the other policies; then each racing pair and each order
// conflict in the other order (directed runs: the first access is held until the second has
// executed). Findings carry what a report needs and the traces that replay them.
// docs/concurrency.md gives the rules.
#pragma once

#include "race/conflicts.hpp"
#include "vgpu/launch.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::explore {

struct Options {
  uint64_t seed = 1;
  std::vector<std::string> policies; // empty: all
  uint32_t runs_per_policy = 2;      // of the policies that use the seed
  uint32_t directed_runs = 64;       // at most
  uint64_t step_budget = 2000000000; // thread-instructions of one run
  double seconds = 0;                // of all runs together; 0: no limit
  double deadline = 0;               // the same as a time (vgpu::monotonic_seconds), set by explore
  uint32_t threads = 0;              // 0: all cores
  bool directed = true;
  bool alone = true; // pairs within one CTA in runs of that CTA, where that is enough (alone.hpp)
  bool tear_vectors = false; // each element of a strong vector access may come from another store
  bool value_races = false;  // run their other order too
  bool detect = true;
  // End once a finding stands that no further run can take back: enough to know that it fails.
  bool until_found = false;
  const Digest* expected = nullptr; // for until_found: a first run that leaves other bytes fails
  vgpu::Reach* reach = nullptr;     // marks what any run executes
  std::string level;
};

struct Difference { // bytes that differ between two outcomes
  std::string buffer;
  uint64_t offset = 0;
  std::vector<uint8_t> a, b; // up to 16 bytes from the first differing one
  uint64_t count = 0;        // differing bytes in this buffer
};

enum class Severity : uint8_t { error, warning, note };

struct Finding {
  std::string kind; // cases.md: race, race-without-consequence, deadlock, …
  Severity severity = Severity::error;
  std::string message;                         // for events: the engine's sentence
  std::vector<vgpu::Place> places;             // races: first and second access
  race::Conflict conflict;                     // races and order conflicts
  race::Distance reach = race::Distance::warp; // of all instances: what an edge must cover
  uint32_t launch = 0;
  bool is_conflict = false;
  bool both_orders = false;          // races: the other order was run
  bool missed = false;               // the other order: the read missed the write
  bool one_order_impossible = false; // it could not be run
  std::string missing_edge;          // what would have ordered the two
  std::vector<Difference> differing;
  std::vector<schedule::Trace> traces; // of the observed outcome; of the other one
  Digest outcome_a, outcome_b;
  std::string policy; // that showed it
};

struct Report {
  std::vector<Finding> findings; // errors and warnings, in order of detection
  std::vector<Finding> notes;    // value-race, order-conflict, released-by-exit, …
  std::string unknown;           // why there is no verdict; empty: there is one
  bool deterministic = true;     // no two outcomes differ
  bool race_free = true;
  bool follows_open_values = false; // the outcome, what the manual leaves open: undetermined
  bool fp_atomic_order = false;     // outcomes differ by the order of floating atomics alone
  bool proved = false;              // proved for this input
  bool one_order = false; // the same but for values that nothing defines: schedules cannot differ
  std::vector<std::string> not_proved;  // why not
  bool cut_short = false;               // by Options::until_found
  uint64_t schedules = 0;               // runs made
  std::vector<std::string> not_reached; // what the budget left out
  vgpu::Outcome first;                  // of the canonical run
  schedule::Trace first_trace;
};

Report explore(const vgpu::JobSpec& job, const Options& options);

// One run under a named policy, with its findings (exec).
Report run_once(const vgpu::JobSpec& job, const std::string& policy, const Options& options);

// Hashes that a trace must match.
void stamp(schedule::Trace& trace, const vgpu::JobSpec& job, uint64_t seed);
// Replays a trace; an error of code usage when its hashes do not match the job.
Result<vgpu::Outcome> replay(const vgpu::JobSpec& job, const schedule::Trace& trace,
                             const Options& options);

// First differences between two outcomes, one per buffer, over bytes that both initialised.
std::vector<Difference> differences(const vgpu::Outcome& a, const vgpu::Outcome& b);
// The edge that would have ordered the two sides, in words; `missed`: the read may miss the write,
// though it comes later.
std::string missing_edge(const race::Conflict& conflict, bool missed);
// The same where the accesses are of two launches that may overlap, `first` the first of those.
std::string missing_between(const vgpu::JobSpec& job, uint32_t first,
                            const race::Conflict& conflict);
// A race of two read-modify-writes: only morally strong ones are atomic to each other (PTX manual,
// axiom of atomicity), so that an update may be lost whatever the two orders leave.
bool loses_updates(const race::Conflict& conflict);
// A race of a strong and a weak access: the compiler may split the weak one, repeat it or keep what
// it read, and the other side is made to be seen; orders of whole accesses do not show that. ptxas
// does all three (bench/results/agreement.md).
bool defies_orders(const race::Conflict& conflict);

} // namespace assay::explore
