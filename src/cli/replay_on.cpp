// assay replay TRACE --kernel FIXED: is the race of the trace gone in a repaired kernel, and what
// orders its two accesses now?
//
// Digests differ, so the schedule itself means nothing there. The accesses are found by the text of
// their lines (aim.cpp). Then: a whole check of the new kernel, which runs every conflict in both
// orders; a run for each order in which the one thread is held before its access until the other
// has made its own; and mutants (mutate/), which tell what orders the two: the barrier, fence or
// wait without which the finding is back.
#include "base/text.hpp"
#include "cli/aim.hpp"
#include "cli/places.hpp"
#include "explore/plan.hpp"
#include "explore/pool.hpp"
#include "mutate/fault.hpp"
#include "report/terminal.hpp"
#include "vgpu/launch_order.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

constexpr size_t kMostMutants = 96;

struct Answer {
  std::string result; // "gone", "still-there", "lines-gone"
  std::vector<Aim> aims;
  std::vector<std::string> held;       // what became of the two orders, a sentence each
  std::vector<std::string> ordered_by; // "bar.sync 0 at sound.cu:26"
  std::string finding;                 // still there: its message
  report::Verdict verdict;             // of the whole check
};

std::string old_place(const schedule::Trace::Site& site) {
  return fmt::format("{}:{}", std::filesystem::path(site.file).filename().string(), site.line);
}

Goal goal_at(const std::string& kind, const std::vector<Aim>& aims) {
  schedule::Trace named;
  named.finding = kind;
  for (const Aim& a : aims) {
    schedule::Trace::Site& site = named.sites.emplace_back();
    site.file = a.at.file;
    site.line = a.at.line;
  }
  return goal_of(named);
}

// A finding at the aimed lines, of any kind: a repair may turn a race into another defect.
const report::Finding* finding_at(const report::Verdict& verdict, const Goal& goal) {
  for (const report::Finding& found : verdict.findings) {
    schedule::Trace named;
    for (const report::Location& at : found.locations) {
      schedule::Trace::Site& site = named.sites.emplace_back();
      site.file = at.file;
      site.line = at.line;
    }
    if (goal_of(named).lines == goal.lines) return &found;
  }
  return nullptr;
}

// One thread is held before its access until the other has made its own, or everyone waits.
std::string hold(const cases::Case& subject, const Aim& first, const Aim& second,
                 const explore::Options& options) {
  vgpu::Arm arm;
  const vgpu::LaunchOrder order = vgpu::launch_order(subject.job);
  const Aim* aims[] = {&first, &second};
  race::Side* sides[] = {&arm.first, &arm.second};
  report::Location at[2];
  for (int i = 0; i < 2; ++i) {
    const schedule::Trace::Site& site = aims[i]->site;
    sides[i]->info.pc = aims[i]->pc;
    sides[i]->agent = {site.cta + order.first_cta[aims[i]->launch], site.warp};
    sides[i]->lane = site.lane;
    sides[i]->time = vgpu::kAnyTime;
    vgpu::Place place;
    place.launch = aims[i]->launch;
    place.pc = aims[i]->pc;
    place.agent = {site.cta, site.warp};
    place.lane = site.lane;
    at[i] = place_of(subject, place);
  }
  arm.launch = order.stage[first.launch];
  arm.address = vgpu::kAnyAddress;
  vgpu::Outcome run = explore::perform(subject.job, {"canonical", 1, {arm}, {}, true}, options);
  return fmt::format("{} was held before {}: {} {} {}", who(at[0]), where(at[0]), who(at[1]),
                     run.arms_reversed ? "went through" : "did not get to", where(at[1]));
}

// The faults after which the finding is back, each as what was taken away and where.
std::vector<std::string> what_orders(const cases::Prepared& prepared, const cases::Case& subject,
                                     const Goal& goal, const Session& session) {
  std::set<std::string> functions;
  for (const vgpu::LaunchSpec& launch : subject.job.launches)
    for (const ir::Function& function : launch.program->functions) functions.insert(function.name);
  const ptx::Module& module = *prepared.kernel.module;
  mutate::Faults faults = mutate::faults(module, functions,
                                         {"barrier-deleted", "warp-barrier-deleted",
                                          "fence-dropped", "order-weakened", "wait-dropped"});
  faults = mutate::choose(faults, kMostMutants, 1);
  std::vector<std::string> found(faults.size());
  Session quiet = session;
  quiet.threads = 1;
  quiet.trace_directory.clear();
  explore::parallel(
      faults.size(), session.threads ? session.threads : explore::default_threads(), [&](size_t i) {
        Result<ptx::Module> mutant = mutate::plant(module, faults[i]);
        if (!mutant) return;
        cases::Prepared other = prepared;
        other.kernel.module = std::make_shared<const ptx::Module>(std::move(*mutant));
        Result<cases::Case> built = cases::build(other, 0);
        if (!built) return;
        explore::Options options = explore_options(other, quiet);
        explore::Report explored = explore::explore(built->job, options);
        report::Verdict verdict = judge({other, *built, 0, Command::check, quiet}, explored);
        if (!finding_at(verdict, goal)) return;
        const ptx::Instruction& at =
            module.functions[faults[i].function].body[faults[i].statement].instruction;
        found[i] = fmt::format("{} at {}", faults[i].before, where(place_of(subject, at)));
      });
  std::vector<std::string> out;
  for (std::string& each : found)
    if (!each.empty() && std::find(out.begin(), out.end(), each) == out.end())
      out.push_back(std::move(each));
  return out;
}

Result<Answer> ask(const schedule::Trace& trace, const Target& target, const Session& session) {
  Result<cases::Prepared> prepared = cases::prepare(target.path, target.options);
  if (!prepared) return prepared.error();
  Result<cases::Case> subject = cases::build(*prepared, 0);
  if (!subject) return subject.error();
  Answer out;
  out.aims = aim(*subject, trace.sites);
  Session own = session;
  own.options = target.options;
  own.typed = target.typed;
  explore::Options options = explore_options(*prepared, own);
  explore::Report explored = explore::explore(subject->job, options);
  out.verdict = judge({*prepared, *subject, 0, Command::check, own}, explored);
  if (!std::all_of(out.aims.begin(), out.aims.end(), [](const Aim& a) { return a.found; })) {
    out.result = "lines-gone";
    return out;
  }
  const Goal goal = goal_at(trace.finding, out.aims);
  if (const report::Finding* found = finding_at(out.verdict, goal)) {
    out.result = "still-there";
    out.finding = fmt::format("{}: {}", found->kind, found->message);
    return out;
  }
  out.result = "gone";
  const bool pair = out.aims.size() == 2 && out.aims[0].site.operation != "copy" &&
                    out.aims[1].site.operation != "copy" &&
                    out.aims[0].launch == out.aims[1].launch;
  if (pair) {
    out.held.push_back(hold(*subject, out.aims[0], out.aims[1], options));
    out.held.push_back(hold(*subject, out.aims[1], out.aims[0], options));
  }
  if (out.aims.size() == 2) out.ordered_by = what_orders(*prepared, *subject, goal, own);
  return out;
}

std::string text_of(const Answer& answer, const schedule::Trace& trace) {
  std::string out;
  for (const Aim& a : answer.aims) {
    if (a.found)
      out += fmt::format("  {} is now {}{}\n", old_place(a.site), where(a.at),
                         a.changed ? ", changed" : "");
    else
      out += fmt::format("  {} is no longer there: {}\n", old_place(a.site),
                         a.site.text.empty() ? a.site.instruction : a.site.text);
  }
  for (const std::string& held : answer.held) out += "  " + held + "\n";
  for (const std::string& by : answer.ordered_by)
    out += fmt::format("  without {} it is back\n", by);
  const std::string what = trace.finding.starts_with("race") ? "race" : trace.finding;
  if (answer.result == "lines-gone") return out + "the lines no longer exist\n";
  if (answer.result == "still-there") return out + "still there: " + answer.finding + "\n";
  if (answer.aims.size() != 2) return out + fmt::format("the {} is gone\n", what);
  if (answer.ordered_by.empty())
    return out +
           fmt::format("the {} is gone: no single barrier, fence or wait orders the two accesses; "
                       "several do, or they touch other bytes now\n",
                       what);
  return out + fmt::format("the {} is gone: the two accesses are ordered now by {}\n", what,
                           join(answer.ordered_by, " and "));
}

std::string json_of(const Answer& answer, const schedule::Trace& trace) {
  nlohmann::ordered_json places = nlohmann::ordered_json::array();
  for (const Aim& a : answer.aims)
    places.push_back(
        {{"was", {{"file", a.site.file}, {"line", a.site.line}, {"text", a.site.text}}},
         {"file", a.found ? a.at.file : ""},
         {"line", a.found ? a.at.line : 0},
         {"changed", a.changed}});
  nlohmann::ordered_json out = {{"schema", "assay/replay-kernel/1"},
                                {"finding", trace.finding},
                                {"result", answer.result},
                                {"places", places},
                                {"held", answer.held},
                                {"ordered_by", answer.ordered_by},
                                {"still", answer.finding},
                                {"verdict", answer.verdict.verdict}};
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace

int replay_on(const schedule::Trace& trace, const std::string& kernel, const Session& session) {
  if (trace.sites.empty())
    return fail(usage_error("this trace is of no finding with places: there is nothing to aim at"),
                session);
  Target target;
  if (session.targets.size() > 1) {
    target = {session.targets[1], session.options, session.typed};
  } else {
    Result<Target> named = target_of(trace.command);
    if (!named) return fail(named.error(), session);
    target = std::move(*named);
  }
  if (target.path.ends_with(".toml"))
    target.options.kernel = kernel;
  else
    target.path = kernel;
  progress("aiming at " + kernel + " …");
  Result<Answer> answer = ask(trace, target, session);
  progress("");
  if (!answer) return fail(answer.error(), session, kernel);
  if (session.json)
    print(json_of(*answer, trace));
  else
    print(text_of(*answer, trace) +
          "check of the kernel: " + report::verdict_line(answer->verdict, session.style));
  return answer->result == "gone" ? kPass : answer->result == "still-there" ? kFail : kUnknown;
}

} // namespace assay::cli
