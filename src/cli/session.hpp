// What every command is given: flags that all share, where output goes, how it ends.
#pragma once

#include "base/result.hpp"
#include "cases/options.hpp"
#include "report/terminal.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace assay::cli {

enum Exit : int { kPass = 0, kFail = 1, kUsage = 2, kUnknown = 3, kEnvironment = 4 };

struct Session {
  bool json = false;
  report::Style style;
  std::string trace_directory = ".assay/traces";
  uint32_t threads = 0;             // of explorations; 0: all cores
  std::string level;                // vector level of the interpreter
  std::vector<std::string> targets; // case files, kernels, folders
  cases::Options options;           // launch options of the command line
  std::vector<std::string> typed;   // the same as words, for commands that replay
  std::vector<std::string> command; // of run: what stands behind --
  std::string program = "assay";    // how the user starts us
  std::string version;
  std::string html, sarif, junit, svg;  // files for reports; empty: none
  std::vector<std::string> suppress;    // files
  std::string baseline, write_baseline; // files; empty: none
  std::filesystem::file_time_type started = std::filesystem::file_time_type::clock::now();
};

// Takes the launch options out of the arguments (of commands that have them) and leaves the rest to
// CLI11.
Result<std::vector<std::string>> take_launch_options(const std::vector<std::string>& arguments,
                                                     Session& session);

// Flags that every command has; a target and launch options in the help.
void add_common_flags(CLI::App& command, Session& session);
// Of commands that give verdicts: reports to files, suppressions, baseline.
void add_report_flags(CLI::App& command, Session& session);
void add_target(CLI::App& command, Session& session, const std::string& help);

// Prints an error (or, in JSON, a verdict that carries it) and gives its exit code.
int fail(const Error& error, const Session& session, const std::string& subject = "");

void print(const std::string& text);    // results: standard output
void complain(const std::string& text); // "error: …" on standard error
void progress(const std::string& text); // one line that overwrites itself, only on a terminal

// For /bin/sh: quoted when it has to be.
std::string quote(const std::string& word);

// Commands, one file each. Each adds itself to the program; its body runs when it was chosen and
// leaves the exit code in `code`.
void add_check(CLI::App& app, Session& session, int& code);
void add_determinism(CLI::App& app, Session& session, int& code);
void add_exec(CLI::App& app, Session& session, int& code);
void add_replay(CLI::App& app, Session& session, int& code);
void add_explain(CLI::App& app, Session& session, int& code);
void add_doctor(CLI::App& app, Session& session, int& code);
void add_run(CLI::App& app, Session& session, int& code);
void add_native_worker(CLI::App& app, Session& session, int& code);
void add_minimize(CLI::App& app, Session& session, int& code);
void add_native_export(CLI::App& app, Session& session, int& code);
void add_mutate(CLI::App& app, Session& session, int& code);
void add_case(CLI::App& app, Session& session, int& code);

} // namespace assay::cli
