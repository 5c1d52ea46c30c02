// assay minimize: the smallest launch and input, and the fewest preemptions, with which a kernel
// still fails in the same way: the same kind of finding at the same lines.
#include "explore/minimize.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/numbers.hpp"
#include "cli/places.hpp"
#include "cli/shrink.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

struct Flags {
  bool keep_launch = false;
  double seconds = 60;
};

struct Shrunk {
  std::string text;    // "17 -> 1 preemptions"
  std::string command; // replays it
  uint64_t before = 0, after = 0, runs = 0;
};

// Does a run show the conflict or event of the finding, and the outcome that makes it one?
bool run_shows(const Shown& shown, const Goal& goal, const vgpu::Outcome& run, bool other_bytes) {
  if (other_bytes && (!run.completed || run.digest == shown.explored.first.digest)) return false;
  auto line = [&](uint32_t launch, uint32_t pc) {
    report::Location at = place_of(shown.subject, launch, pc);
    return std::pair(at.file, at.line);
  };
  auto is_goal = [&](std::vector<std::pair<std::string, uint32_t>> lines) {
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return lines == goal.lines;
  };
  if (shown.found.is_conflict) {
    for (const auto& launch : run.conflicts)
      for (const race::Conflict& c : launch.conflicts)
        if (is_goal({line(launch.launch + c.first.grid, c.first.info.pc),
                     line(launch.launch + c.second.grid, c.second.info.pc)}))
          return true;
    return false;
  }
  for (const auto* events :
       {&run.events, &run.uninitialised_reads, &run.unspecified, &run.time_reads})
    for (const vgpu::Event& event : *events) {
      std::vector<std::pair<std::string, uint32_t>> lines;
      for (const vgpu::Place& place : event.places) lines.push_back(line(place.launch, place.pc));
      if (goal.kind == vgpu::kind_name(event.kind) && is_goal(lines)) return true;
    }
  return other_bytes && goal.lines.empty();
}

Result<Shrunk> fewest_preemptions(const Shown& shown, const Goal& goal, const Job& job,
                                  const schedule::Trace& trace, double deadline) {
  // Of a finding whose outcomes differ, the one that the canonical run does not leave.
  const bool other_bytes = !shown.found.differing.empty() &&
                           trace.outcome != shown.explored.first.digest && !trace.vary.poison &&
                           !trace.vary.open;
  explore::Options options = explore_options(shown.prepared, job.session);
  options.deadline = deadline;
  Result<explore::Minimized> least = explore::minimize(
      shown.subject.job, trace,
      [&](const vgpu::Outcome& run) { return run_shows(shown, goal, run, other_bytes); }, options);
  if (!least) return least.error();
  // It must replay like any other; if not, that is our mistake, and the trace stays as it was.
  const bool good = explore::replay(shown.subject.job, least->trace, options).ok();
  Shrunk out;
  out.before = least->before;
  out.after = good ? least->after : least->before;
  out.runs = least->runs;
  std::vector<report::Location> at;
  for (const vgpu::Place& place : shown.found.places) at.push_back(place_of(shown.subject, place));
  Judgement judgement{shown.prepared, shown.subject, job.variant, Command::check, job.session};
  schedule::Trace small = good ? least->trace : trace;
  small.sites.clear(); // written anew
  out.command = write_witness(judgement, std::move(small), shown.found, at);
  out.text = fmt::format("preemptions: {} -> {}{}", out.before, out.after,
                         least->complete ? "" : " (stopped early)");
  return out;
}

// The finding to minimise: that of the trace, else the first error of a check.
Result<Goal> first_goal(const Job& job) {
  Result<cases::Prepared> prepared = cases::prepare(job.path, job.options);
  if (!prepared) return prepared.error();
  Result<cases::Case> subject = cases::build(*prepared, job.variant);
  if (!subject) return subject.error();
  explore::Report explored =
      explore::explore(subject->job, explore_options(*prepared, job.session));
  for (const explore::Finding& found : explored.findings) {
    if (found.severity != explore::Severity::error && found.kind != "race-without-consequence")
      continue;
    schedule::Trace named;
    named.finding = found.kind;
    for (const vgpu::Place& place : found.places) {
      report::Location at = place_of(*subject, place);
      schedule::Trace::Site& site = named.sites.emplace_back();
      site.file = at.file;
      site.line = at.line;
    }
    return goal_of(named);
  }
  return usage_error(
      fmt::format("{} has no finding that schedules or memory show: there is nothing "
                  "to minimise",
                  job.path));
}

struct Request {
  Job job;
  std::optional<schedule::Trace> trace;
};

Result<Request> request_of(const Session& session) {
  Request out;
  out.job = {session.targets.back(), session.options, session};
  if (session.targets.size() > 2)
    return usage_error("minimize takes a trace, a case or kernel, or both");
  if (!session.targets[0].ends_with(".trace")) {
    if (session.targets.size() == 2) return usage_error("the first of two targets is a trace");
    return out;
  }
  Result<std::string> text = read_file(session.targets[0]);
  if (!text) return text.error();
  Result<schedule::Trace> trace = schedule::parse_trace(*text, session.targets[0]);
  if (!trace) return trace.error();
  if (trace->finding.empty()) return usage_error("this trace is of no finding");
  if (session.targets.size() == 1) {
    Result<Target> target = target_of(trace->command);
    if (!target) return target.error();
    out.job.path = target->path;
    out.job.options = target->options;
    out.job.session.options = target->options;
    out.job.session.typed = target->typed;
  }
  out.trace = std::move(*trace);
  return out;
}

int print_result(const Goal& goal, const Job& job, const std::vector<std::string>& changes,
                 const std::vector<Shrunk>& traces, const Session& session) {
  std::string check = fmt::format("{} check {}", session.program, quote(job.path));
  for (const std::string& word : job.session.typed) check += " " + quote(word);
  if (session.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Shrunk& s : traces)
      list.push_back(
          {{"before", s.before}, {"after", s.after}, {"runs", s.runs}, {"replay", s.command}});
    nlohmann::ordered_json out = {{"schema", "assay/minimize/1"},
                                  {"finding", goal.kind},
                                  {"at", goal.text()},
                                  {"check", check},
                                  {"smaller", changes},
                                  {"traces", list}};
    print(out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    return kPass;
  }
  std::string out = fmt::format("minimised: {}\n", goal.text());
  for (const std::string& change : changes) out += "  " + change + "\n";
  for (const Shrunk& s : traces) out += "  " + s.text + "\n";
  out += "  check:  " + check + "\n";
  for (const Shrunk& s : traces)
    if (!s.command.empty()) out += "  replay: " + s.command + "\n";
  print(out);
  return kPass;
}

int minimize(const Session& session, const Flags& flags) {
  const double deadline = vgpu::monotonic_seconds() + flags.seconds;
  Result<Request> request = request_of(session);
  if (!request) return fail(request.error(), session);
  progress("looking for what to minimise …");
  Result<Goal> goal =
      request->trace ? Result<Goal>(goal_of(*request->trace)) : first_goal(request->job);
  progress("");
  if (!goal) return fail(goal.error(), session, request->job.path);
  std::vector<std::string> changes;
  Job job = request->job;
  // What cannot even be prepared shows nothing, for a reason of its own.
  if (Result<cases::Prepared> prepared = cases::prepare(job.path, job.options); !prepared)
    return fail(prepared.error(), session, job.path);
  if (!flags.keep_launch) {
    progress("making the job smaller …");
    job = shrink(job, *goal, vgpu::monotonic_seconds() + flags.seconds / 2, changes);
  }
  std::optional<Shown> shown = shows(job, *goal);
  progress("");
  if (!shown)
    return fail(
        usage_error(fmt::format("the check of {} does not show {}", job.path, goal->text())),
        session);
  std::vector<Shrunk> traces;
  std::vector<schedule::Trace> from(shown->found.traces.begin(), shown->found.traces.end());
  if (request->trace && changes.empty()) from = {*request->trace};
  for (const schedule::Trace& trace : from) {
    Result<Shrunk> shrunk = fewest_preemptions(*shown, *goal, job, trace, deadline);
    if (!shrunk && request->trace && changes.empty())
      return fail(shrunk.error(), session, job.path);
    if (shrunk) traces.push_back(std::move(*shrunk));
  }
  return print_result(*goal, job, changes, traces, session);
}

} // namespace

void add_minimize(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand(
      "minimize", "The smallest launch, input and schedule that still fail in the same way");
  auto flags = std::make_shared<Flags>();
  add_common_flags(*command, session);
  add_target(*command, session,
             "A trace, or the case file or kernel with launch options that fails, or both");
  command->add_flag("--keep-launch", flags->keep_launch,
                    "Only the schedule: launch and inputs stay");
  command->add_option("--seconds", flags->seconds, "Time to spend")
      ->type_name("S")
      ->check(seconds())
      ->capture_default_str();
  command->callback([&session, &code, flags] { code = minimize(session, *flags); });
}

} // namespace assay::cli
