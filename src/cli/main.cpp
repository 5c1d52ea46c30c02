// The command line: one subcommand, then what it prints and how it ends. Exit codes: 0 pass, 1
// fail, 2 wrong use or internal error, 3 unknown, 4 the machine lacks something.
#include "base/text.hpp"
#include "cli/session.hpp"
#include "cli/traces.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef ASSAY_VERSION
#define ASSAY_VERSION "0.1.0"
#endif

namespace assay::cli {
namespace {

constexpr const char* kDescription =
    "Assay decides whether a GPU kernel can be trusted, on a machine without a GPU.\n"
    "It runs PTX (or CUDA C++) on a virtual GPU under a scheduler that it controls, and finds "
    "races,\n"
    "results that depend on the schedule, and stray memory accesses.";

constexpr const char* kExamples = R"(First steps:
  assay check cases/histogram/defect.toml      a kernel with a defect, with its evidence
  assay check KERNEL.ptx --grid 4 --block 256 --arg rand:f32[1024] --arg out:4096
  assay case new KERNEL.cu                     a first case file for your own kernel
  assay explain race                           what a kind of finding means
  assay doctor                                 what this machine can do

Exit codes: 0 pass, 1 fail, 2 wrong use, 3 unknown, 4 the machine lacks something.
Every command has --help.)";

// How the user can start us again: through the script beside the sources, or by name.
std::string program_name() {
  std::error_code ignored;
  std::filesystem::path script("assay");
  bool here = std::filesystem::is_regular_file(script, ignored) && ::access("assay", X_OK) == 0;
  return here ? "./assay" : "assay";
}

// Of the terminal to which results go; without one, what fits most.
uint32_t terminal_width() {
  winsize size{};
  bool known = ::isatty(STDOUT_FILENO) && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col ? size.ws_col : report::Style().width;
}

// The command that the words choose, `case new` included.
const CLI::App* chosen_command(const std::vector<std::string>& words, const CLI::App& app) {
  const CLI::App* chosen = &app;
  for (const std::string& word : words) {
    const CLI::App* next = nullptr;
    for (const CLI::App* sub : chosen->get_subcommands({}))
      if (sub->get_name() == word) next = sub;
    if (!next) break;
    chosen = next;
  }
  return chosen;
}

// A message when a word looks like a flag and is none. CLI11 would take what follows it for a
// target.
std::string unknown_flag(const std::vector<std::string>& words, const CLI::App& app) {
  const CLI::App* command = chosen_command(words, app);
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  std::vector<std::string> offered = known;
  for (const cases::LaunchOption& option : cases::launch_options())
    offered.emplace_back(option.name);
  for (const std::string& word : words) {
    std::string name = word.substr(0, word.find('='));
    if (word == "--") break;
    if (!word.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end())
      continue;
    return fmt::format("unknown option '{}'{}", name, did_you_mean(name, offered));
  }
  return "";
}

std::string help_hint(const CLI::App& command) {
  std::string name = command.get_name() == "assay" ? "" : command.get_name() + " ";
  if (command.get_parent() && command.get_parent()->get_name() == "case") name = "case " + name;
  return fmt::format(" (assay {}--help shows what there is)", name);
}

// A message when the first word names no command.
std::string unknown_command(const std::vector<std::string>& arguments, const CLI::App& app) {
  if (arguments[0].starts_with("-")) return "";
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({})) {
    if (sub->get_name() == arguments[0]) return "";
    if (!sub->get_group().empty()) names.push_back(sub->get_name());
  }
  return fmt::format("there is no command '{}'{} (commands: {})", arguments[0],
                     did_you_mean(arguments[0], names), join(names, ", "));
}

// Words behind -- are another program's, of which CLI11 would take those that look like flags.
std::vector<std::string> take_command(std::vector<std::string>& arguments) {
  auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (arguments[0] != "run" || end == arguments.end()) return {};
  std::vector<std::string> command(end + 1, arguments.end());
  arguments.erase(end, arguments.end());
  return command;
}

int run(std::vector<std::string> arguments) {
  Session session;
  session.command = take_command(arguments);
  session.style.color = ::isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR");
  session.program = program_name();
  session.version = ASSAY_VERSION;
  session.style.width = terminal_width();
  int code = kPass;
  CLI::App app(kDescription, "assay");
  app.footer(kExamples);
  app.require_subcommand(1);
  app.set_version_flag("--version", "assay " ASSAY_VERSION);
  app.set_help_flag("-h,--help", "Show this help");
  add_check(app, session, code);
  add_determinism(app, session, code);
  add_exec(app, session, code);
  add_replay(app, session, code);
  add_minimize(app, session, code);
  add_mutate(app, session, code);
  add_run(app, session, code);
  add_native_worker(app, session, code);
  add_native_export(app, session, code);
  add_explain(app, session, code);
  add_case(app, session, code);
  add_doctor(app, session, code);
  if (std::string word = unknown_command(arguments, app); !word.empty()) {
    complain(word);
    return kUsage;
  }
  Result<std::vector<std::string>> rest = take_launch_options(arguments, session);
  if (!rest) return fail(rest.error(), session);
  const CLI::App* command = chosen_command(*rest, app);
  if (std::string message = unknown_flag(*rest, app); !message.empty()) {
    complain(message + help_hint(*command));
    return kUsage;
  }
  std::vector<std::string> reversed(rest->rbegin(), rest->rend()); // CLI11 takes them from the back
  try {
    app.parse(reversed);
  } catch (const CLI::Success& help) { // --help, --version
    app.exit(help);
    return kPass;
  } catch (const CLI::ParseError& error) {
    complain(error.what() + help_hint(*command));
    return kUsage;
  }
  prune_traces(session);
  return code;
}

} // namespace
} // namespace assay::cli

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) arguments = {"--help"};
  int code = assay::cli::kEnvironment;
  try {
    code = assay::cli::run(arguments);
  } catch (const std::bad_alloc&) {
    assay::cli::complain("this machine has not enough memory for that");
  }
  // A reader that went away (assay … | head) is no reason to report success.
  if (std::fflush(stdout) != 0 && code == 0) code = assay::cli::kUsage;
  return code;
}
