// assay run -- CMD: a CUDA program on this machine's GPU, its kernels examined where they run.
#include "base/file.hpp"
#include "cli/native.hpp"
#include "cli/numbers.hpp"
#include "cli/outputs.hpp"
#include "compile/search.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace assay::cli {
namespace {

struct Words {
  native::Options options;
  std::string preset = "default", page;
  bool no_scrub = false, no_conflicts = false, json = false, quiet = false;
};

nlohmann::ordered_json json_of(const native::KernelReport& r) {
  auto extent = [](const native::Extent3& e) { return std::vector<uint32_t>{e.x, e.y, e.z}; };
  nlohmann::ordered_json figures = nlohmann::ordered_json::object();
  for (const auto& [name, value] : r.figures) figures[name] = std::strtod(value.c_str(), nullptr);
  return {{"process", r.process},
          {"launch", r.number},
          {"kernel", r.launch.name},
          {"symbol", r.launch.symbol},
          {"grid", extent(r.launch.grid)},
          {"block", extent(r.launch.block)},
          {"cluster", extent(r.launch.cluster)},
          {"shared_bytes", r.launch.shared_bytes},
          {"verdict", native::verdict_name(r.verdict)},
          {"kind", r.kind},
          {"reason", r.reason},
          {"plain_repeats", r.plain_runs},
          {"perturbed_repeats", r.perturbed_runs},
          {"differing_bytes", r.differing_bytes},
          {"first_difference", r.place},
          {"conflicts", r.pairs},
          {"notes", r.notes},
          {"snapshot_bytes", r.snapshot_bytes},
          {"changed_bytes", r.changed_bytes},
          {"accesses", r.accesses},
          {"milliseconds", r.milliseconds},
          {"figures", figures}};
}

std::string json_text(const native::Started& started, int code) {
  nlohmann::ordered_json out;
  out["schema"] = "assay/run/1";
  out["exit"] = {
      {"code", started.program.code}, {"signal", !started.program.exited}, {"assay", code}};
  out["processes"] = nlohmann::ordered_json::array();
  for (const native::Message& hello : started.processes)
    out["processes"].push_back({{"process", hello.number("process")},
                                {"program", hello.get("program")},
                                {"problem", hello.get("problem")}});
  out["remarks"] = started.remarks;
  out["launches"] = nlohmann::ordered_json::array();
  for (const native::KernelReport& report : started.reports)
    out["launches"].push_back(json_of(report));
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// What was said by the processes themselves: why one was not watched, why one was ended.
std::vector<std::string> remarks_of(const native::Started& started) {
  std::vector<std::string> out = started.remarks;
  if (started.processes.empty())
    out.emplace_back("no process of the command used CUDA (or it started without our environment)");
  for (const native::Message& hello : started.processes)
    if (std::string problem = hello.get("problem"); !problem.empty())
      out.push_back(fmt::format("process {} ({}) was not examined: {}", hello.get("process"),
                                hello.get("program"), problem));
  for (const native::Message& ending : started.endings)
    out.push_back(
        fmt::format("process {} was ended: {}", ending.get("process"), ending.get("reason")));
  return out;
}

// One line that tells how far it is, while the command runs.
struct Tally {
  size_t pass = 0, fail = 0, unknown = 0;

  void show(const native::Message& message) {
    if (message.kind == "kernel") {
      const std::string verdict = message.get("verdict");
      ++(verdict == "pass" ? pass : verdict == "fail" ? fail : unknown);
      progress("");
    }
    if (message.kind == "examining")
      progress(fmt::format("{} pass, {} fail, {} unknown; examining {} …", pass, fail, unknown,
                           message.get("name").substr(0, 60)));
  }
};

void show(const native::Message& message, bool debug) {
  if (debug && message.kind == "debug")
    std::fputs(("debug: " + message.get("text") + "\n").c_str(), stderr);
}

int run_native(Words& words, const Session& session) {
  if (session.command.empty()) return fail(usage_error("run needs a command after --"), session);
  if (!native::apply_preset(words.preset, words.options.settings))
    return fail(
        usage_error(fmt::format("there is no preset '{}' (default, quick, paper)", words.preset)),
        session);
  words.options.settings.scrub = !words.no_scrub;
  words.options.settings.conflict_pass = !words.no_conflicts;
  if (!words.page.empty())
    if (Result<void> possible = can_be_written(words.page); !possible)
      return fail(possible.error(), session);
  Result<native::Started> started = run_watched(session.command, words.options);
  if (!started) return fail(started.error(), session);
  if (!words.page.empty()) {
    std::string command;
    for (const std::string& word : session.command)
      command += (command.empty() ? "" : " ") + quote(word);
    if (Result<void> done =
            write_file(words.page, native_page(*started, remarks_of(*started), command));
        !done)
      return fail(done.error(), session);
  }
  return print_reports(*started, words.json, words.quiet);
}

} // namespace

Result<native::Started> run_watched(const std::vector<std::string>& command,
                                    native::Options options) {
  options.debug = std::getenv("ASSAY_NATIVE_DEBUG") != nullptr;
  const std::string library = native::injection_library();
  if (library.empty())
    return environment_error("the injection library was not built; run setup/native");
  const std::vector<std::string> sanitizers =
      native::sanitizer_candidates(compile::Surroundings::of_this_process().project);
  if (sanitizers.empty())
    return environment_error("libsanitizer-public.so was not found: it comes with the CUDA "
                             "toolkit, with setup/native, or name it in ASSAY_SANITIZER");
  options.sanitizer = sanitizers[0];
  Tally tally;
  return native::run_command(command, options, library, [&](const native::Message& message) {
    tally.show(message);
    show(message, options.debug);
  });
}

int print_reports(const native::Started& started, bool json, bool quiet) {
  const int code = native::exit_code(started.reports, started.program);
  if (json) {
    print(json_text(started, code));
    return code;
  }
  if (!quiet && !started.reports.empty()) print("\n" + native::table(started.reports));
  for (const std::string& remark : remarks_of(started)) print("remark: " + remark + "\n");
  print(native::closing_line(started.reports) + "\n");
  return code;
}

void add_run(CLI::App& app, Session& session, int& code) {
  CLI::App* command = app.add_subcommand(
      "run", "A CUDA program on this machine's GPU: do its kernels depend on timing?");
  auto words = std::make_shared<Words>();
  native::Selection& selection = words->options.selection;
  native::Settings& settings = words->options.settings;
  command->footer(
      "The command stands behind --:  assay run [OPTIONS] -- CMD [ARGUMENTS]\n"
      "Exit codes: 1 when a kernel's result changed; otherwise the command's own; 3 when that "
      "is 0 and a kernel stayed unknown, or none was examined.");
  command
      ->add_option("--kernel-name", selection.names,
                   "Only kernels of this name, mangled or not, with or without what stands around "
                   "it; * and ? are wildcards (may be repeated)")
      ->type_name("NAME")
      ->take_all();
  command->add_option("--launch-skip", selection.skip, "Skip this many matching launches")
      ->type_name("N")
      ->check(whole_number(0, UINT64_MAX));
  command->add_option("--launch-count", selection.count, "Examine at most this many (0: all)")
      ->type_name("N")
      ->check(whole_number(0, UINT64_MAX));
  command->add_flag("--every", selection.repeats,
                    "Examine every matching launch, not only those that differ in kernel, shape "
                    "or parameters");
  command->add_option("--preset", words->preset, "Settings: default, quick, or paper (RESOLVE's)")
      ->type_name("NAME");
  command->add_option("--plain", settings.plain, "Repeats without delays")
      ->type_name("N")
      ->check(whole_number(0, 1000000));
  command->add_option("--perturbed", settings.perturbed, "Repeats of each kind of delay")
      ->type_name("N")
      ->check(whole_number(0, 1000000));
  command
      ->add_option("--outside", settings.outside,
                   "Repeats under pressure from outside: a cold cache, memory traffic, half of the "
                   "multiprocessors")
      ->type_name("N")
      ->check(whole_number(0, 1000));
  command
      ->add_option("--conflict-blocks", settings.trace_blocks,
                   "Blocks that the conflict pass looks at (0: all)")
      ->type_name("N")
      ->check(whole_number(0, UINT32_MAX));
  command->add_option("--cycles", settings.cycles, "Longest delay, in clock cycles")
      ->type_name("N")
      ->check(whole_number(1, 1u << 30));
  command
      ->add_option("--probability", settings.probability, "Share of delayed accesses, in percent")
      ->type_name("N")
      ->check(whole_number(1, 100));
  command->add_option("--limit", settings.limit_seconds, "Longest wait for anything, in seconds")
      ->type_name("N")
      ->check(whole_number(1, 3600));
  command->add_option("--seed", settings.seed, "Of delays and refill patterns")
      ->type_name("N")
      ->check(whole_number(0, UINT64_MAX));
  command->add_flag("--no-scrub", words->no_scrub, "Leave shared memory between runs as it is");
  command->add_flag("--no-conflicts", words->no_conflicts,
                    "No conflict pass: delay all accesses, name no pairs");
  command->add_option("--html", words->page, "Write the reports as a page")->type_name("FILE");
  command->add_flag("--json", words->json, "Print the reports as JSON");
  command->add_flag("-q,--quiet", words->quiet, "Print the closing line only");
  command->callback([words, &session, &code] {
    Session own = session;
    own.json = words->json;
    code = run_native(*words, own);
  });
}

} // namespace assay::cli
