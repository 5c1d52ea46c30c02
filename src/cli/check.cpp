// assay check: everything that applies to a kernel or a case, or to every case below a folder.
#include "cases/case.hpp"
#include "cli/acceptance.hpp"
#include "cli/buffers.hpp"
#include "cli/judge.hpp"
#include "cli/outputs.hpp"
#include "cli/publish.hpp"
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

Answer check_target(const std::string& target, const Session& session, const Flags& flags,
                    Acceptance& acceptance) {
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
    acceptance.apply(verdict);
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
  if (!answer.error) return cli::row_of(target, answer.verdicts, flags.verify);
  return cli::row_of(target, *answer.error);
}

// What is known at the end only: files, unused suppressions. Nothing when all went well.
std::optional<Error> close(const Session& session, const Acceptance& acceptance,
                           report::Document document, std::vector<std::string>& remarks) {
  remarks = acceptance.remarks();
  if (Result<void> done = acceptance.write(remarks); !done) return done.error();
  if (!document.cases.empty() && !document.cases.back().verdicts.empty())
    document.cases.back().verdicts.back().remarks = remarks;
  document.command = "check";
  if (Result<void> done = publish(session, std::move(document)); !done) return done.error();
  return {};
}

int check_one(const std::string& target, const Session& session, const Flags& flags,
              Acceptance& acceptance) {
  progress("running " + target + " …");
  Answer answer = check_target(target, session, flags, acceptance);
  progress("");
  std::vector<std::string> remarks;
  std::optional<Error> failed = close(
      session, acceptance, {"", "", {{row_of(target, answer, flags), answer.verdicts}}}, remarks);
  if (answer.error) return fail(*answer.error, session, target);
  if (failed) return fail(*failed, session, target);
  answer.verdicts.back().remarks = remarks;
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

int check_folder(const std::vector<std::string>& targets, Session session, const Flags& flags,
                 Acceptance& acceptance) {
  size_t width = session.threads ? session.threads : explore::default_threads();
  session.threads = 1; // cases run beside each other instead of schedules
  std::vector<std::optional<Answer>> answers(targets.size());
  std::vector<report::Row> rows;
  std::mutex mutex;
  explore::parallel(targets.size(), width, [&](size_t i) {
    Answer answer = check_target(targets[i], session, flags, acceptance);
    std::lock_guard lock(mutex);
    answers[i] = std::move(answer);
    while (rows.size() < targets.size() && answers[rows.size()]) { // rows come in order
      rows.push_back(row_of(targets[rows.size()], *answers[rows.size()], flags));
      if (!session.json) print(report::print_row(rows.back(), session.style));
    }
    progress(fmt::format("{} of {} cases", rows.size(), targets.size()));
  });
  progress("");
  report::Document document;
  for (size_t i = 0; i < rows.size(); ++i)
    document.cases.push_back({rows[i], answers[i]->verdicts});
  std::vector<std::string> remarks;
  if (std::optional<Error> failed = close(session, acceptance, std::move(document), remarks))
    return fail(*failed, session);
  if (session.json) {
    std::vector<report::Verdict> verdicts;
    for (const std::optional<Answer>& answer : answers)
      verdicts.insert(verdicts.end(), answer->verdicts.begin(), answer->verdicts.end());
    print(report::print_json(verdicts, rows, remarks));
  } else {
    for (const std::string& remark : remarks) print(remark + "\n");
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
  if (Result<void> good = check_outputs(session); !good) return fail(good.error(), session);
  Result<std::unique_ptr<Acceptance>> acceptance = Acceptance::load(session);
  if (!acceptance) return fail(acceptance.error(), session);
  return folder ? check_folder(targets, session, flags, **acceptance)
                : check_one(targets[0], session, flags, **acceptance);
}

} // namespace

void add_check(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand(
      "check", "Everything that applies: schedules, races, memory, barriers, outputs");
  auto flags = std::make_shared<Flags>();
  add_common_flags(*command, session);
  add_report_flags(*command, session);
  add_target(*command, session,
             "Case file (.toml), kernel (.ptx, .cu) with launch options, or a folder of cases");
  command->add_flag("--verify", flags->verify,
                    "Compare with the expectations written in the cases (// expect:)");
  command->callback([&session, &code, flags] { code = check(session, *flags); });
}

} // namespace assay::cli
