// assay replay: a recorded schedule again, bit for bit. A trace that was made of another kernel,
// launch or input is refused; --kernel aims its finding at such a kernel instead (replay_on.cpp).
#include "base/file.hpp"
#include "cli/aim.hpp"
#include "cli/buffers.hpp"
#include "cli/judge.hpp"
#include "cli/places.hpp"
#include "schedule/trace.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

std::string describe(const cases::Case& subject, const vgpu::Outcome& outcome) {
  std::string out;
  for (const auto& [launch, conflicts] : outcome.conflicts)
    for (const race::Conflict& conflict : conflicts) {
      report::Location a = place_of(subject, launch + conflict.first.grid, conflict.first.info.pc);
      report::Location b =
          place_of(subject, launch + conflict.second.grid, conflict.second.info.pc);
      const char* kind = conflict.kind == race::Conflict::Kind::order        ? "order conflict"
                         : conflict.kind == race::Conflict::Kind::value_race ? "value race"
                                                                             : "race";
      out += fmt::format("  {} between {} and {}\n", kind, where(a), where(b));
    }
  for (const vgpu::Event& event : outcome.events)
    out +=
        fmt::format("  {}: {}{}\n", vgpu::kind_name(event.kind), event.message,
                    event.places.empty() ? "" : " at " + where(place_of(subject, event.places[0])));
  return out;
}

// The trace; what it was made of follows on the command line, or stands in the trace.
int replay(const Session& session, const std::string& kernel) {
  const std::string& path = session.targets[0];
  Result<std::string> text = read_file(path);
  if (!text) return fail(text.error(), session);
  Result<schedule::Trace> trace = schedule::parse_trace(*text, path);
  if (!trace) return fail(trace.error(), session);
  if (session.targets.size() > 2)
    return fail(usage_error("replay needs a trace and the case or kernel it was made of"), session);
  if (!kernel.empty()) return replay_on(*trace, kernel, session);
  Target own{session.targets.back(), session.options, {}};
  if (session.targets.size() == 1) {
    Result<Target> named = target_of(trace->command);
    if (!named) return fail(named.error(), session, path);
    own = std::move(*named);
  }
  const std::string& target = own.path;
  Result<cases::Prepared> prepared = cases::prepare(target, own.options);
  if (!prepared) return fail(prepared.error(), session, target);
  Result<cases::Case> subject = cases::build(*prepared, 0);
  if (!subject) return fail(subject.error(), session, target);
  explore::Options options = explore_options(*prepared, session);
  Result<vgpu::Outcome> outcome = explore::replay(subject->job, *trace, options);
  if (!outcome) return fail(outcome.error(), session, target);
  if (Result<void> done = write_outs(*subject, *outcome); !done)
    return fail(done.error(), session, target);
  std::string digest = outcome->digest.hex(), shown = shown_buffers(*subject, *outcome);
  if (session.json) {
    std::fputs(shown.c_str(), stderr); // standard output holds the JSON alone
    nlohmann::ordered_json out = {{"schema", "assay/replay/1"},
                                  {"trace", path},
                                  {"case", target},
                                  {"policy", trace->policy},
                                  {"completed", outcome->completed},
                                  {"digest", digest}};
    print(out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    return kPass;
  }
  print(outcome->printed + shown);
  if (!session.style.quiet) print(describe(*subject, *outcome));
  print(fmt::format("replayed: {} [policy {}, seed {}, outcome {}]\n",
                    outcome->completed ? "the kernel ended" : "the kernel did not end",
                    trace->policy, trace->seed, digest));
  return kPass;
}

} // namespace

void add_replay(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand("replay", "Repeat a recorded schedule bit for bit");
  add_common_flags(*command, session);
  add_target(
      *command, session,
      "The trace, then the case file or kernel with the launch options it was made with (left "
      "out: as the trace says)");
  auto kernel = std::make_shared<std::string>();
  command
      ->add_option("--kernel", *kernel,
                   "A repaired kernel (.cu, .ptx): is the trace's finding gone at the same lines?")
      ->type_name("FIXED");
  command->callback([&session, &code, kernel] { code = replay(session, *kernel); });
}

} // namespace assay::cli
