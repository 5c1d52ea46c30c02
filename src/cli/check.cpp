// assay check: everything that applies to a kernel or a case, or to every case below a folder.
#include "cases/case.hpp"
#include "cli/buffers.hpp"
#include "cli/judge.hpp"
#include "explore/pool.hpp"
#include "report/json.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <mutex>

namespace assay::cli {
namespace {

struct Flags {
  bool verify = false;
};

// What one target gave: verdicts (one for each variant) or an error.
struct Answer {
  std::vector<report::Verdict> verdicts;
  std::vector<std::string> shown; // buffers that --show asks for, of the first run
  std::optional<Error> error;
  bool met = true; // its expectation
};

Answer check_target(const std::string& target, const Session& session, const Flags& flags) {
  Answer answer;
  Result<cases::Prepared> prepared = cases::prepare(target, session.options);
  if (!prepared) {
    answer.error = prepared.error();
    return answer;
  }
  for (size_t variant = 0; variant < prepared->variants; ++variant) {
    Result<cases::Case> subject = cases::build(*prepared, variant);
    if (!subject) {
      answer.error = subject.error();
      return answer;
    }
    explore::Report explored = explore::explore(subject->job, explore_options(*prepared, session));
    report::Verdict verdict =
        judge({*prepared, *subject, variant, Command::check, session}, explored);
    if (flags.verify) answer.met = meets_expectation(*prepared, verdict) && answer.met;
    answer.verdicts.push_back(std::move(verdict));
    answer.shown.push_back(shown_buffers(*subject, explored.first));
    if (variant > 0) continue; // a file holds one variant
    if (Result<void> done = write_outs(*subject, explored.first); !done) {
      answer.error = done.error();
      return answer;
    }
  }
  return answer;
}

report::Row row_of(const std::string& target, const Answer& answer, const Flags& flags) {
  using State = report::Row::State;
  report::Row row{target, State::passed, ""};
  if (answer.error) {
    row.state = answer.error->code == ErrorCode::environment   ? State::skipped
                : answer.error->code == ErrorCode::unsupported ? State::unknown
                                                               : State::broken;
    row.text = answer.error->text();
    return row;
  }
  report::Style plain;
  for (const report::Verdict& verdict : answer.verdicts) {
    std::string line = report::verdict_line(verdict, plain);
    line.pop_back();
    bool bad = flags.verify ? verdict.expectation == "unmet" : verdict.verdict != "pass";
    if (row.text.empty() || (bad && row.state == State::passed)) row.text = line;
    if (!bad) continue;
    row.state = verdict.verdict == "unknown" ? State::unknown : State::failed;
    for (const std::string& difference : verdict.expectation_differences)
      row.text += "\n          " + difference;
  }
  return row;
}

int check_one(const std::string& target, const Session& session, const Flags& flags) {
  progress("running " + target + " …");
  Answer answer = check_target(target, session, flags);
  progress("");
  if (answer.error) return fail(*answer.error, session, target);
  if (session.json) {
    report::Row row = row_of(target, answer, flags);
    print(answer.verdicts.size() == 1 ? report::print_json(answer.verdicts[0])
                                      : report::print_json(answer.verdicts, {row}));
  }
  int code = kPass;
  for (size_t i = 0; i < answer.verdicts.size(); ++i) {
    const report::Verdict& verdict = answer.verdicts[i];
    if (!session.json && answer.verdicts.size() > 1) print("== " + verdict.subject + "\n");
    if (session.json) // standard output holds the JSON alone
      std::fputs(answer.shown[i].c_str(), stderr);
    else
      print(answer.shown[i] + report::print_terminal(verdict, session.style));
    int own = exit_code(verdict);
    if (own == kFail || code == kPass) code = own;
  }
  if (!flags.verify) return code;
  if (!session.json) print(answer.met ? "expectation met\n" : "expectation not met\n");
  return answer.met ? kPass : code == kUnknown ? kUnknown : kFail;
}

int check_folder(const std::vector<std::string>& targets, Session session, const Flags& flags) {
  size_t width = session.threads ? session.threads : explore::default_threads();
  session.threads = 1; // cases run beside each other instead of schedules
  std::vector<std::optional<Answer>> answers(targets.size());
  std::vector<report::Row> rows;
  std::mutex mutex;
  explore::parallel(targets.size(), width, [&](size_t i) {
    Answer answer = check_target(targets[i], session, flags);
    std::lock_guard lock(mutex);
    answers[i] = std::move(answer);
    while (rows.size() < targets.size() && answers[rows.size()]) { // rows come in order
      rows.push_back(row_of(targets[rows.size()], *answers[rows.size()], flags));
      if (!session.json) print(report::print_row(rows.back(), session.style));
    }
    progress(fmt::format("{} of {} cases", rows.size(), targets.size()));
  });
  progress("");
  if (session.json) {
    std::vector<report::Verdict> verdicts;
    for (const std::optional<Answer>& answer : answers)
      verdicts.insert(verdicts.end(), answer->verdicts.begin(), answer->verdicts.end());
    print(report::print_json(verdicts, rows));
  } else {
    print(report::closing_line(rows));
  }
  int code = kPass;
  for (const report::Row& row : rows) {
    if (row.state == report::Row::State::broken) return kUsage;
    if (row.state == report::Row::State::failed) code = kFail;
    if (row.state == report::Row::State::unknown && code == kPass) code = kUnknown;
  }
  return code;
}

int check(const Session& session, const Flags& flags) {
  std::vector<std::string> targets;
  bool folder = session.targets.size() > 1;
  for (const std::string& target : session.targets) {
    std::error_code ignored;
    folder = folder || std::filesystem::is_directory(target, ignored);
    Result<std::vector<std::string>> found = cases::find_cases(target);
    if (!found) return fail(found.error(), session);
    targets.insert(targets.end(), found->begin(), found->end());
  }
  for (const cases::LaunchGroup& group : session.options.launches)
    if (folder && (!group.shows.empty() || !group.outs.empty()))
      return fail(usage_error("--show and --out need one case or kernel, not several"), session);
  if (folder && targets.empty())
    return fail(usage_error(fmt::format("there is no case in '{}'", session.targets[0])), session);
  return folder ? check_folder(targets, session, flags) : check_one(targets[0], session, flags);
}

} // namespace

void add_check(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand(
      "check", "Everything that applies: schedules, races, memory, barriers, outputs");
  auto flags = std::make_shared<Flags>();
  add_common_flags(*command, session);
  add_target(*command, session,
             "Case file (.toml), kernel (.ptx, .cu) with launch options, or a folder of cases");
  command->add_flag("--verify", flags->verify,
                    "Compare with the expectations written in the cases (// expect:)");
  command->callback([&session, &code, flags] { code = check(session, *flags); });
}

} // namespace assay::cli
