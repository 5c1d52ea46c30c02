// assay mutate: plants synchronisation faults into a sound kernel, one at a time, and says which of
// the mutants are found, which are proved or shown to be equal, and which are neither.
#include "base/file.hpp"
#include "base/machine.hpp"
#include "base/text.hpp"
#include "cli/mutants.hpp"
#include "cli/numbers.hpp"
#include "cli/places.hpp"
#include "explore/pool.hpp"

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace assay::cli {
namespace {

struct Flags {
  std::vector<std::string> kinds;
  size_t limit = 0;
  std::string folder; // --write
  bool no_run = false;
  double each = 0, within = 0; // seconds of a mutant, of a case; 0: no limit
};

Result<std::set<std::string>> known_kinds(const std::vector<std::string>& wanted) {
  std::vector<std::string> names;
  for (const mutate::FaultKind& kind : mutate::fault_kinds()) names.emplace_back(kind.name);
  for (const std::string& kind : wanted)
    if (std::find(names.begin(), names.end(), kind) == names.end())
      return usage_error(fmt::format("there is no kind of fault '{}'{} (kinds: {})", kind,
                                     did_you_mean(kind, names), join(names, ", ")));
  return std::set<std::string>(wanted.begin(), wanted.end());
}

// "fold/003-barrier-deleted.ptx"; the first line says what was planted where.
Result<void> write_mutant(const std::string& folder, size_t number, const Original& original,
                          const Mutant& mutant) {
  Result<ptx::Module> module = mutate::plant(*original.prepared.kernel.module, mutant.fault);
  if (!module) return {}; // reported as invalid
  std::string text = fmt::format("// {} at {} (PTX line {}): {} -> {}\n// of {}\n",
                                 mutant.fault.kind, where(mutant.place), mutant.fault.position.line,
                                 mutant.fault.before, mutant.fault.after, mutant.subject);
  return write_file(fmt::format("{}/{:03}-{}.ptx", folder, number, mutant.fault.kind),
                    text + ptx::print(*module));
}

// So many at once that their memory stays within half of the machine's. A run keeps its buffers
// several times over: as described, in the run, in the outcomes that are compared.
size_t width_for(const Original& original, const Session& session) {
  size_t cores = session.threads ? session.threads : explore::default_threads();
  constexpr uint64_t kCopies = 8, kBase = uint64_t(64) << 20;
  uint64_t each = kBase + kCopies * original.bytes;
  return std::max<size_t>(1, std::min<uint64_t>(cores, memory_of_machine() / 2 / each));
}

std::vector<Mutant> mutants_of(const Original& original, const std::set<std::string>& kinds,
                               size_t limit, uint64_t seed, LeftOut& left_out) {
  std::vector<Mutant> out;
  const ptx::Module& module = *original.prepared.kernel.module;
  mutate::Faults all = mutate::faults(module, original.functions, kinds);
  mutate::Faults chosen = mutate::choose(all, limit, seed);
  left_out.by_limit += all.size() - chosen.size();
  for (mutate::Fault& fault : chosen) {
    Mutant& mutant = out.emplace_back();
    mutant.subject = original.prepared.path;
    mutant.place = place_of(original.subjects[0],
                            module.functions[fault.function].body[fault.statement].instruction);
    mutant.fault = std::move(fault);
  }
  return out;
}

// The kinds take turns, so that each has had some when the time is over.
std::vector<size_t> in_turns(const std::vector<Mutant>& mutants) {
  std::map<std::string, std::vector<size_t>> by_kind;
  for (size_t i = 0; i < mutants.size(); ++i) by_kind[mutants[i].fault.kind].push_back(i);
  std::vector<size_t> out;
  for (size_t turn = 0; out.size() < mutants.size(); ++turn)
    for (const auto& [kind, list] : by_kind)
      if (turn < list.size()) out.push_back(list[turn]);
  return out;
}

// Those that no time was left for are taken out; how many they are.
size_t run_all(const Original& original, Session session, const Flags& flags,
               std::vector<Mutant>& mutants) {
  const double start = vgpu::monotonic_seconds();
  auto over = [&] { return flags.within > 0 && vgpu::monotonic_seconds() - start > flags.within; };
  size_t width = width_for(original, session);
  session.trace_directory.clear();
  find_reached(original, session, flags.each, mutants);
  session.threads = 1; // mutants run beside each other instead of schedules
  std::atomic<size_t> done = 0;
  const std::vector<size_t> order = in_turns(mutants);
  std::vector<char> begun(mutants.size(), 0);
  explore::parallel(mutants.size(), width, [&](size_t i) {
    if (over()) return;
    begun[order[i]] = 1;
    run_mutant(original, session, flags.each, mutants[order[i]]);
    progress(fmt::format("{} of {} mutants of {}", ++done, mutants.size(), original.prepared.path));
  });
  progress("");
  std::vector<Mutant> run;
  for (size_t i = 0; i < mutants.size(); ++i)
    if (begun[i]) run.push_back(std::move(mutants[i]));
  const size_t left = mutants.size() - run.size();
  mutants = std::move(run);
  return left;
}

int conclude(const std::vector<Mutant>& mutants, const std::vector<std::string>& left_out,
             const LeftOut& count, const Session& session, const Flags& flags) {
  uint64_t seed = session.options.seed.value_or(1);
  if (!left_out.empty() && !session.json && !session.style.quiet)
    print(fmt::format("left out, since they do not pass by themselves: {}{}\n", left_out.size(),
                      session.style.verbose ? " (" + join(left_out, ", ") + ")" : ""));
  if (count.by_time && !session.json && !session.style.quiet)
    print(fmt::format("no time was left for {} mutants\n", count.by_time));
  if (session.json)
    print(mutant_json(mutants, count, seed));
  else if (flags.no_run)
    print(fmt::format("{} mutants written to {}\n", mutants.size(), flags.folder));
  else
    print(mutant_table(mutants, session.style));
  if (flags.no_run) return kPass;
  if (count.by_time) return kUnknown;
  for (const Mutant& m : mutants)
    if (m.state == MutantState::unsettled || m.state == MutantState::unknown) return kUnknown;
  return kPass;
}

int run(const Session& session, const Flags& flags) {
  Result<std::set<std::string>> kinds = known_kinds(flags.kinds);
  if (!kinds) return fail(kinds.error(), session);
  if (flags.no_run && flags.folder.empty())
    return fail(usage_error("--no-run needs --write FOLDER, or there is nothing to do"), session);
  std::vector<std::string> targets;
  for (const std::string& target : session.targets) {
    Result<std::vector<std::string>> found = cases::find_cases(target);
    if (!found) return fail(found.error(), session);
    targets.insert(targets.end(), found->begin(), found->end());
  }
  if (targets.empty())
    return fail(usage_error(fmt::format("there is no case in '{}'", session.targets[0])), session);
  const bool several = targets.size() > 1;
  std::vector<Mutant> all;
  std::vector<std::string> left_out;
  LeftOut count;
  for (const std::string& target : targets) {
    std::string complaint;
    Session quiet = session;
    quiet.trace_directory.clear();
    progress("checking " + target + " …");
    Result<Original> original = check_original(target, quiet, complaint);
    progress("");
    if (!original && !several) return fail(original.error(), session, target);
    if (!original) complaint = original.error().message;
    if (!complaint.empty()) { // a kernel that fails by itself tells nothing about its mutants
      std::string text =
          fmt::format("{} is not mutated, since it does not pass by itself: {}", target, complaint);
      if (!several) {
        complain(text);
        return complaint.starts_with("unknown") ? kUnknown : kFail;
      }
      left_out.push_back(target);
      continue;
    }
    std::vector<Mutant> mutants =
        mutants_of(*original, *kinds, flags.limit, session.options.seed.value_or(1), count);
    for (size_t i = 0; !flags.folder.empty() && i < mutants.size(); ++i)
      if (Result<void> done = write_mutant(flags.folder, all.size() + i, *original, mutants[i]);
          !done)
        return fail(done.error(), session);
    if (!flags.no_run) count.by_time += run_all(*original, session, flags, mutants);
    all.insert(all.end(), std::make_move_iterator(mutants.begin()),
               std::make_move_iterator(mutants.end()));
  }
  return conclude(all, left_out, count, session, flags);
}

} // namespace

void add_mutate(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand(
      "mutate", "Plant synchronisation faults into a sound kernel: is each of them found?");
  auto flags = std::make_shared<Flags>();
  add_common_flags(*command, session);
  add_target(
      *command, session,
      "Sound case file (.toml), kernel (.ptx, .cu) with launch options, or a folder of cases "
      "(those that fail by themselves are left out)");
  command
      ->add_option("--kinds", flags->kinds,
                   "Only these kinds of faults (docs/mutate.md lists them)")
      ->type_name("KIND,…")
      ->delimiter(',');
  command->add_option("--limit", flags->limit, "At most N mutants of a case, chosen by --seed")
      ->type_name("N")
      ->check(whole_number(0, UINT32_MAX));
  command->add_option("--write", flags->folder, "Write each mutant's PTX to this folder")
      ->type_name("FOLDER");
  command
      ->add_option("--each", flags->each,
                   "Time for one mutant: one that takes longer is not settled, \"out of time\"")
      ->type_name("SECONDS")
      ->check(seconds());
  command
      ->add_option("--within", flags->within,
                   "Begin no mutant of a case after so long; the kinds take turns")
      ->type_name("SECONDS")
      ->check(seconds());
  command->add_flag("--no-run", flags->no_run, "Only write the mutants");
  command->callback([&session, &code, flags] { code = run(session, *flags); });
}

} // namespace assay::cli
