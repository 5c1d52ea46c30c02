// Running and settling mutants; see mutants.hpp.
#include "cli/mutants.hpp"

#include "cli/judge.hpp"
#include "cli/places.hpp"
#include "vgpu/reach.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace assay::cli {
namespace {

// A mutant may wait for ever; nothing is gained by long patience, since it does what the sound
// kernel does but for one instruction.
constexpr uint64_t kPatience = 50, kLeastBudget = 100'000'000;
// Of one mutant: each of its conflicts should be turned, unless it is found before.
constexpr uint32_t kFirstRuns = 64, kDirectedRuns = 4096;

explore::Options mutant_options(const Original& original, const Session& session) {
  explore::Options out = explore_options(original.prepared, session);
  if (!original.prepared.options.budget)
    out.step_budget = std::max(kLeastBudget, kPatience * original.thread_instructions);
  out.directed_runs = kDirectedRuns;
  out.value_races = true;
  return out;
}

// Operations of a job by their statements' places in the PTX text.
struct Places {
  using Place = std::pair<uint32_t, uint32_t>; // line, column
  struct Operation {
    uint32_t launch, pc;
  };
  std::map<Place, std::vector<Operation>> operations;
  std::unique_ptr<vgpu::Reach> reach;

  static Place of(const ptx::Position& p) { return {p.line, p.column}; }

  Places(const vgpu::JobSpec& job, const std::set<Place>& wanted) {
    std::vector<std::vector<uint32_t>> asked(job.launches.size());
    for (uint32_t launch = 0; launch < asked.size(); ++launch) {
      const ir::Program& program = *job.launches[launch].program;
      for (uint32_t pc = 0; pc < program.ops.size(); ++pc) {
        const ptx::Instruction* instruction = program.sites[pc].instruction;
        if (!instruction || !wanted.count(of(instruction->position))) continue;
        operations[of(instruction->position)].push_back({launch, pc});
        asked[launch].push_back(pc);
      }
    }
    reach = std::make_unique<vgpu::Reach>(std::move(asked));
  }

  bool executed(const std::vector<Operation>& at) const {
    return std::any_of(at.begin(), at.end(),
                       [&](const Operation& o) { return reach->was_executed(o.launch, o.pc); });
  }
  bool any_executed() const {
    return std::any_of(operations.begin(), operations.end(),
                       [&](const auto& each) { return executed(each.second); });
  }
  bool all_executed() const {
    return std::all_of(operations.begin(), operations.end(),
                       [&](const auto& each) { return executed(each.second); });
  }
  // What has no operation of its own counts as reached: nothing is known of it.
  bool reached(const ptx::Position& position) const {
    auto at = operations.find(of(position));
    return at == operations.end() || executed(at->second);
  }
};

std::set<std::string> functions_of(const cases::Case& subject) {
  std::set<std::string> out;
  for (const vgpu::LaunchSpec& launch : subject.job.launches)
    for (const ir::Function& function : launch.program->functions) out.insert(function.name);
  return out;
}

// Does a finding speak of the fault? At its line, around it, or of other lines only.
std::string distance_of(const report::Finding& finding, const report::Location& place) {
  constexpr uint32_t kNear = 8; // lines
  uint32_t low = UINT32_MAX, high = 0;
  bool at = false;
  for (const report::Location& l : finding.locations) {
    if (l.file != place.file) continue;
    at |= l.line == place.line;
    low = std::min(low, l.line);
    high = std::max(high, l.line);
  }
  if (at) return "at";
  if (low == UINT32_MAX) return "elsewhere";
  return place.line + kNear >= low && place.line <= high + kNear ? "near" : "elsewhere";
}

void found(const report::Verdict& verdict, Mutant& mutant) {
  mutant.state = MutantState::found;
  mutant.same_bytes = true;
  mutant.distance = "elsewhere";
  for (const report::Finding& finding : verdict.findings) {
    if (finding.severity != report::Severity::error) continue;
    if (std::find(mutant.kinds.begin(), mutant.kinds.end(), finding.kind) == mutant.kinds.end())
      mutant.kinds.push_back(finding.kind);
    mutant.same_bytes &= finding.kind == "race-without-consequence";
    const std::string distance = distance_of(finding, mutant.place);
    auto rank = [](const std::string& d) { return d == "at" ? 0 : d == "near" ? 1 : 2; };
    if (rank(distance) < rank(mutant.distance)) mutant.distance = distance;
    if (mutant.detail.empty()) mutant.detail = finding.kind + ": " + finding.message;
  }
}

// Why a pass that is no proof settles nothing; empty: each conflict was run in both orders.
std::string open_question(const explore::Report& explored) {
  size_t conflicts = 0;
  for (const explore::Finding& note : explored.notes) {
    if (note.kind != "order-conflict" && note.kind != "value-race") continue;
    ++conflicts;
    if (!note.both_orders && !note.one_order_impossible)
      return fmt::format("a conflict ({}) was run in one order only", note.kind);
  }
  if (!explored.not_reached.empty()) return "not reached: " + explored.not_reached[0];
  if (conflicts || explored.one_order) return ""; // perhaps there is only one order
  std::string why = explored.not_proved.empty() ? "no reason given" : explored.not_proved[0];
  return fmt::format("no difference in {} schedules, no conflict, no proof: {}", explored.schedules,
                     why);
}

void settle(const report::Verdict& verdict, const explore::Report& explored,
            const vgpu::Outcome& sound, Mutant& mutant) {
  mutant.schedules += explored.schedules;
  if (verdict.verdict == "fail") return found(verdict, mutant);
  if (verdict.verdict == "unknown") {
    mutant.state = MutantState::unknown;
    mutant.detail = verdict.reason;
    return;
  }
  if (explored.first.digest != sound.digest) {
    // Always the same bytes, and not those of the sound kernel.
    mutant.state = MutantState::found;
    mutant.kinds = {"wrong-value"};
    mutant.distance = "elsewhere";
    mutant.detail = "wrong-value: the outcome is another than the sound kernel's";
    return;
  }
  if (verdict.coverage.proved) {
    mutant.state = MutantState::proved;
    return;
  }
  mutant.detail = open_question(explored);
  mutant.state = mutant.detail.empty() ? MutantState::both_orders : MutantState::unsettled;
}

} // namespace

const char* state_name(MutantState state) {
  static const char* names[kMutantStates] = {"found",       "proved",  "both-orders", "not-reached",
                                             "not-settled", "unknown", "invalid"};
  return names[size_t(state)];
}

Result<Original> check_original(const std::string& target, const Session& session,
                                std::string& complaint) {
  Result<cases::Prepared> prepared = cases::prepare(target, session.options);
  if (!prepared) return prepared.error();
  Original out;
  out.prepared = std::move(*prepared);
  for (size_t variant = 0; variant < out.prepared.variants; ++variant) {
    Result<cases::Case> subject = cases::build(out.prepared, variant);
    if (!subject) return subject.error();
    explore::Report explored =
        explore::explore(subject->job, explore_options(out.prepared, session));
    report::Verdict verdict =
        judge({out.prepared, *subject, variant, Command::check, session}, explored);
    if (verdict.verdict != "pass")
      complaint =
          fmt::format("{}: {}", verdict.verdict,
                      verdict.findings.empty() ? verdict.reason : verdict.findings[0].message);
    for (const std::string& name : functions_of(*subject)) out.functions.insert(name);
    out.thread_instructions = std::max(out.thread_instructions, explored.first.thread_instructions);
    uint64_t bytes = explored.first.shadow_bytes;
    for (const vgpu::BufferSpec& buffer : subject->job.buffers) bytes += buffer.bytes;
    out.bytes = std::max(out.bytes, bytes);
    out.outcomes.push_back(std::move(explored.first));
    out.subjects.push_back(std::move(*subject));
  }
  return out;
}

void find_reached(const Original& original, const Session& session, double seconds,
                  std::vector<Mutant>& mutants) {
  std::set<Places::Place> wanted;
  for (Mutant& mutant : mutants) {
    wanted.insert(Places::of(mutant.fault.position));
    mutant.reached = false;
  }
  for (const cases::Case& subject : original.subjects) {
    const Places places(subject.job, wanted);
    explore::Options options = mutant_options(original, session);
    options.directed_runs = kFirstRuns; // a mutant that needs more runs looks in those itself
    options.reach = places.reach.get();
    explore::run_once(subject.job, "canonical", options); // most need no more than this
    options.seconds = seconds;
    const double start = vgpu::monotonic_seconds();
    if (!places.all_executed()) explore::explore(subject.job, options);
    const bool cut_off = seconds > 0 && vgpu::monotonic_seconds() - start > seconds;
    for (Mutant& mutant : mutants) // of what there was no time for nothing is known
      mutant.reached |= cut_off || places.reached(mutant.fault.position);
  }
}

namespace {
struct Checked { // a mutant in one variant
  const Original& original;
  const cases::Prepared& prepared;
  const cases::Case& subject;
  const Session& session;
  size_t variant;
  double deadline; // vgpu::monotonic_seconds(); 0: none
  bool out_of_time() const { return deadline > 0 && vgpu::monotonic_seconds() >= deadline; }
};

// How long: to the end, until a finding is certain, or other bytes are left.
enum class Until : uint8_t { end, found, other_bytes };

// False: it was cut short by a finding that does not count, since the case allows it.
bool run_once(const Checked& c, uint32_t directed_runs, Until until, Mutant& mutant) {
  explore::Options options = mutant_options(c.original, c.session);
  if (c.deadline > 0) options.seconds = std::max(1e-3, c.deadline - vgpu::monotonic_seconds());
  options.directed_runs = directed_runs;
  options.until_found = until != Until::end;
  if (until == Until::other_bytes) options.expected = &c.original.outcomes[c.variant].digest;
  // What was moved may be reached where it stands now, and a wait that does not only ask again is
  // run in more ways than one that does.
  const bool look = !mutant.reached;
  std::set<Places::Place> wanted;
  if (look) wanted.insert(Places::of(mutant.fault.position));
  const Places places(c.subject.job, wanted);
  options.reach = look ? places.reach.get() : nullptr;
  const explore::Report explored = explore::explore(c.subject.job, options);
  mutant.reached |= look && places.any_executed();
  report::Verdict verdict =
      judge({c.prepared, c.subject, c.variant, Command::check, c.session}, explored);
  mutant.detail.clear();
  mutant.kinds.clear();
  settle(verdict, explored, c.original.outcomes[c.variant], mutant);
  return !explored.cut_short || mutant.state == MutantState::found;
}

void run_as_needed(const Checked& c, Mutant& mutant) {
  for (uint32_t runs : {kFirstRuns, kDirectedRuns}) {
    bool counts = run_once(c, runs, Until::other_bytes, mutant);
    // Other bytes alone name no place; conflicts may.
    if (counts && mutant.state == MutantState::found && mutant.distance == "elsewhere" &&
        !c.out_of_time()) {
      const Mutant by_bytes = mutant;
      counts = run_once(c, runs, Until::found, mutant);
      if (mutant.state != MutantState::found) {
        mutant = by_bytes;
        return;
      }
    }
    if (!counts) run_once(c, runs, Until::end, mutant);
    if (mutant.state != MutantState::unsettled || c.out_of_time()) return;
  }
}
} // namespace

void run_mutant(const Original& original, const Session& session, double seconds, Mutant& mutant) {
  const double start = vgpu::monotonic_seconds(), deadline = seconds > 0 ? start + seconds : 0;
  Result<ptx::Module> module = mutate::plant(*original.prepared.kernel.module, mutant.fault);
  cases::Prepared prepared = original.prepared;
  if (module) prepared.kernel.module = std::make_shared<const ptx::Module>(std::move(*module));
  MutantState worst = MutantState::proved;
  std::string detail;
  for (size_t variant = 0; module && variant < prepared.variants; ++variant) {
    Result<cases::Case> subject = cases::build(prepared, variant);
    if (!subject) {
      bool open = subject.error().code == ErrorCode::unsupported;
      mutant.state = open ? MutantState::unknown : MutantState::invalid;
      mutant.detail = subject.error().message;
    } else {
      const Checked checked{original, prepared, *subject, session, variant, deadline};
      run_as_needed(checked, mutant);
      const bool open =
          mutant.state == MutantState::unsettled || mutant.state == MutantState::unknown;
      if (open && checked.out_of_time()) mutant.detail = "out of time; " + mutant.detail;
    }
    bool decided = mutant.state == MutantState::found || mutant.state == MutantState::invalid;
    if (decided || mutant.state >= worst) worst = mutant.state, detail = mutant.detail;
    if (decided) break;
  }
  mutant.state = module ? worst : MutantState::invalid;
  mutant.detail = module ? detail : module.error().message;
  if (!mutant.reached && (worst == MutantState::proved || worst == MutantState::both_orders)) {
    mutant.state = MutantState::not_reached;
    mutant.detail = fmt::format("no run reaches it; {}", state_name(worst));
  }
  mutant.seconds = vgpu::monotonic_seconds() - start;
}

} // namespace assay::cli
