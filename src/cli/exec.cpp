// assay exec: one run under one schedule, with bounds, poison and race detection; what the kernel
// leaves can be written to files, compared and shown.
#include "cli/acceptance.hpp"
#include "cli/buffers.hpp"
#include "cli/judge.hpp"
#include "cli/outputs.hpp"
#include "cli/publish.hpp"
#include "report/json.hpp"

#include <CLI/CLI.hpp>

namespace assay::cli {
namespace {

int exec(const Session& session) {
  const std::string& target = session.targets[0];
  if (Result<void> good = check_outputs(session); !good) return fail(good.error(), session, target);
  Result<std::unique_ptr<Acceptance>> acceptance = Acceptance::load(session);
  if (!acceptance) return fail(acceptance.error(), session, target);
  Result<cases::Prepared> prepared = cases::prepare(target, session.options);
  if (!prepared) return fail_report(prepared.error(), session, "exec", target);
  Result<cases::Case> subject = cases::build(*prepared, 0);
  if (!subject) return fail_report(subject.error(), session, "exec", target);
  std::string policy = prepared->options.schedule.value_or("canonical");
  explore::Options options = explore_options(*prepared, session);
  explore::Report explored = policy == "all" ? explore::explore(subject->job, options)
                                             : explore::run_once(subject->job, policy, options);
  std::vector<report::Verdict> verdicts(1);
  report::Verdict& verdict = verdicts[0];
  verdict = judge(
      {*prepared, *subject, 0, policy == "all" ? Command::determinism : Command::exec, session},
      explored);
  (*acceptance)->apply(verdict);
  if (Result<void> done = close_report(session, **acceptance, "exec", target, verdicts); !done)
    return fail(done.error(), session, target);
  if (explored.first.memory.size() < subject->buffers.size()) return exit_code(verdict);
  if (Result<void> done = write_outs(*subject, explored.first); !done)
    return fail(done.error(), session, target);
  std::string shown = explored.first.printed + shown_buffers(*subject, explored.first);
  if (session.json) {
    std::fputs(shown.c_str(), stderr); // standard output holds the JSON alone
    print(report::print_json(verdict));
  } else {
    print(shown + report::print_terminal(verdict, session.style));
  }
  return exit_code(verdict);
}

} // namespace

void add_exec(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand(
      "exec", "Run one kernel once on raw buffers, with bounds, poison and race detection");
  add_common_flags(*command, session);
  add_report_flags(*command, session);
  add_target(*command, session, "Kernel (.ptx, .cu) with launch options, or a case file (.toml)");
  command->get_option("target")->expected(1);
  command->callback([&session, &code] { code = exec(session); });
}

} // namespace assay::cli
