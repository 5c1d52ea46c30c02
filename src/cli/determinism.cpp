// assay determinism: does any schedule change what the kernel leaves in memory?
#include "cli/acceptance.hpp"
#include "cli/buffers.hpp"
#include "cli/judge.hpp"
#include "cli/native.hpp"
#include "cli/outputs.hpp"
#include "cli/publish.hpp"
#include "report/json.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace assay::cli {
namespace {

int determinism(const Session& session, const std::string& executor) {
  if (executor == "native") {
    if (!session.html.empty() || !session.sarif.empty() || !session.junit.empty() ||
        !session.svg.empty() || !session.suppress.empty() || !session.baseline.empty() ||
        !session.write_baseline.empty())
      return fail(
          usage_error("reports to files, suppressions and baselines go with the vgpu executor"),
          session);
    return native_determinism(session);
  }
  const std::string& target = session.targets[0];
  if (Result<void> good = check_outputs(session); !good) return fail(good.error(), session, target);
  Result<std::unique_ptr<Acceptance>> acceptance = Acceptance::load(session);
  if (!acceptance) return fail(acceptance.error(), session, target);
  Result<cases::Prepared> prepared = cases::prepare(target, session.options);
  if (!prepared) return fail_report(prepared.error(), session, "determinism", target);
  std::vector<report::Verdict> verdicts;
  std::vector<std::string> shown; // buffers that --show asks for, of the first run
  int code = kPass;
  for (size_t variant = 0; variant < prepared->variants; ++variant) {
    Result<cases::Case> subject = cases::build(*prepared, variant);
    if (!subject) return fail_report(subject.error(), session, "determinism", target, verdicts);
    progress("running " + subject->name + " …");
    explore::Report explored = explore::explore(subject->job, explore_options(*prepared, session));
    progress("");
    verdicts.push_back(
        judge({*prepared, *subject, variant, Command::determinism, session}, explored));
    (*acceptance)->apply(verdicts.back());
    shown.push_back(shown_buffers(*subject, explored.first));
    if (variant == 0) // a file holds one variant
      if (Result<void> done = write_outs(*subject, explored.first); !done)
        return fail_report(done.error(), session, "determinism", target, verdicts);
    int own = exit_code(verdicts.back());
    if (own == kFail || code == kPass) code = own;
  }
  if (Result<void> done = close_report(session, **acceptance, "determinism", target, verdicts);
      !done)
    return fail(done.error(), session, target);
  if (session.json) {
    for (const std::string& text : shown) std::fputs(text.c_str(), stderr);
    print(verdicts.size() == 1 ? report::print_json(verdicts[0])
                               : report::print_json(verdicts, {}));
    return code;
  }
  for (size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts.size() > 1) print("== " + verdicts[i].subject + "\n");
    print(shown[i] + report::print_terminal(verdicts[i], session.style));
  }
  return code;
}

} // namespace

void add_determinism(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand(
      "determinism", "Only: does any schedule change a single bit of the outcome?");
  add_common_flags(*command, session);
  add_report_flags(*command, session);
  add_target(*command, session, "Case file (.toml) or kernel (.ptx, .cu) with launch options");
  command->get_option("target")->expected(1);
  auto executor = std::make_shared<std::string>("vgpu");
  command
      ->add_option(
          "--executor", *executor,
          "Where it runs: vgpu, or native, this machine's GPU (repeats with delays, no proof)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"vgpu", "native"}));
  command->callback([&session, &code, executor] { code = determinism(session, *executor); });
}

} // namespace assay::cli
