// What becomes of a mutant: run like a case, then found, settled or neither.
#pragma once

#include "cases/case.hpp"
#include "cli/session.hpp"
#include "mutate/fault.hpp"
#include "report/verdict.hpp"

#include <memory>

namespace assay::cli {

// Closed list, in the order of tables. What is found fails the check. What passes is settled where
// no schedule can leave other bytes (proved), or where each conflict was run in both orders and
// left the same bytes; not_reached: one of these two, and no run executes the place of the fault.
// A pass on other grounds settles nothing.
enum class MutantState : uint8_t {
  found,
  proved,
  both_orders,
  not_reached,
  unsettled,
  unknown,
  invalid
};
constexpr size_t kMutantStates = 7;
const char* state_name(MutantState state);

struct Mutant {
  mutate::Fault fault;
  std::string subject;    // the case
  report::Location place; // of the fault
  MutantState state = MutantState::unsettled;
  std::vector<std::string> kinds; // of the findings, without repetition
  bool reached = true;            // does some run execute the place of the fault?
  bool same_bytes = false;        // found: only races of which both orders left the same bytes
  std::string distance;           // found: "at", "near" or "elsewhere"
  std::string detail;             // the first finding, why it is not settled, what is not legal
  uint64_t schedules = 0;
  double seconds = 0;
};

// A sound case whose mutants are run: it passes its own check, and leaves these bytes.
struct Original {
  cases::Prepared prepared;
  std::vector<cases::Case> subjects;           // one for each variant
  std::vector<vgpu::Outcome> outcomes;         // of the canonical run
  std::set<std::string> functions;             // that its launches can reach
  uint64_t thread_instructions = 0, bytes = 0; // of the largest variant
};

// Checks the case; `complaint` says what is wrong where it does not pass. Errors: as of check.
Result<Original> check_original(const std::string& target, const Session& session,
                                std::string& complaint);

// Which of the mutants' places do runs of the sound kernel execute? As many runs as of a mutant:
// one whose place none of them reaches does what the sound kernel does.
// `seconds`: at most about so long; what is not seen until then counts as reached.
void find_reached(const Original& original, const Session& session, double seconds,
                  std::vector<Mutant>& mutants);

// Runs the mutant in every variant until it is found, or so many seconds are over (0: no limit).
// `session` is that of one run: one thread.
void run_mutant(const Original& original, const Session& session, double seconds, Mutant& mutant);

// The table by kind of fault, the mutants that are not settled, and a closing line.
std::string mutant_table(const std::vector<Mutant>& mutants, const report::Style& style);
std::string mutant_line(const Mutant& mutant);
struct LeftOut {
  size_t by_limit = 0, by_time = 0; // mutants
};
std::string mutant_json(const std::vector<Mutant>& mutants, const LeftOut& left_out, uint64_t seed);

} // namespace assay::cli
