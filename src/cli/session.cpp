// Flags that commands share, and output; see session.hpp.
#include "cli/session.hpp"

#include "cli/numbers.hpp"
#include "report/json.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace assay::cli {
namespace {

constexpr const char* kArgumentHelp = R"(ARGUMENTS, one --arg for each kernel parameter, in order:
  in:FILE  inout:FILE       a buffer with the bytes of a file (raw or .npy)
  out:BYTES                 a buffer that nobody has written; out:BYTES:FILL is filled with a byte
  rand:TYPE[N,...]          generated inputs; rand:TYPE[N]:FAMILY chooses one of auto, uniform, normal,
                            degenerate, sparse, sentinel, magnitude, cancellation, quantum, ties, structure
  zeros:TYPE[N,...]         a buffer of zeros
  list:TYPE[v,v*COUNT,...]  an input with these values; inlist:... is one that the kernel also writes
  TYPE:VALUE                a scalar, as in u32:1024, f32:0.5, f32:0x7fc00000
  bytes:HEX  null           raw bytes; a null pointer
  same:N  same:N+OFFSET     the buffer of parameter N again (same:L.N: of launch L)
  struct:SIZE{OFFSET:SPEC,...}   a parameter passed by value that holds others
  func:NAME                 the address of a device function
TYPE is u8 ... u64, s8 ... s64, b8 ... b64, f16, bf16, f32 or f64. N counts parameters from 0.
--launch starts the options of the next launch; launches run one after the other.
-I, -D and -G are passed to the CUDA compiler.)";

std::string launch_help() {
  std::string out = "LAUNCH OPTIONS (beside a case file they override it):\n";
  for (const cases::LaunchOption& option : cases::launch_options())
    out += fmt::format("  {:<27} {}\n", std::string(option.name) + " " + option.value, option.help);
  return out + "\n" + kArgumentHelp;
}

bool takes_launch_options(const std::vector<std::string>& arguments) {
  static const std::vector<std::string> commands = {
      "check", "determinism", "exec", "replay", "mutate", "minimize", "native-worker"};
  auto command = std::find_if(arguments.begin(), arguments.end(),
                              [](const std::string& word) { return !word.starts_with("-"); });
  return command != arguments.end() &&
         std::find(commands.begin(), commands.end(), *command) != commands.end();
}

} // namespace

Result<std::vector<std::string>> take_launch_options(const std::vector<std::string>& arguments,
                                                     Session& session) {
  if (!takes_launch_options(arguments)) return arguments;
  std::vector<cases::Token> tokens, rest;
  for (const std::string& word : arguments) tokens.push_back({word, {}});
  Result<cases::Options> options = cases::parse_options(tokens, "", &rest);
  if (!options) return options.error();
  session.options = std::move(*options);
  std::vector<std::string> words;
  for (const cases::Token& token : rest) words.push_back(token.text);
  // What is left out of `rest` was a launch option: kept in order for the replay command.
  size_t at = 0;
  for (const std::string& word : arguments) {
    if (at < words.size() && words[at] == word)
      ++at;
    else
      session.typed.push_back(word);
  }
  return words;
}

void add_common_flags(CLI::App& command, Session& session) {
  command.add_flag("--json", session.json, "Print the verdict as JSON");
  command.add_flag("-q,--quiet", session.style.quiet, "Print the verdict line only");
  command.add_flag("-v,--verbose", session.style.verbose,
                   "Print notes with their places and why nothing is proved");
  command
      .add_option("--print-limit", session.style.print_limit, "Findings shown in full; 0 shows all")
      ->type_name("N")
      ->check(whole_number(0, UINT32_MAX))
      ->capture_default_str();
  command.add_option("--trace-dir", session.trace_directory, "Where traces are written")
      ->type_name("DIR")
      ->capture_default_str();
  command
      .add_option("--threads", session.threads, "Threads that run schedules (default: all cores)")
      ->type_name("N")
      ->check(whole_number(0, 4096));
  command
      .add_option("--level", session.level,
                  "Vector level of the interpreter: portable, avx2 or avx512")
      ->type_name("NAME")
      ->check(CLI::IsMember({"portable", "avx2", "avx512"}));
}

void add_report_flags(CLI::App& command, Session& session) {
  struct Flag {
    const char* name;
    std::string& file;
    const char* help;
  };
  const Flag flags[] = {
      {"--html", session.html, "Write the report as one page, with timelines and source"},
      {"--sarif", session.sarif, "Write the findings as SARIF 2.1.0, for code hosts and editors"},
      {"--junit", session.junit, "Write a JUnit testcase for each case, for build servers"},
      {"--svg", session.svg, "Write the timeline of the first finding as a picture"},
      {"--baseline", session.baseline, "Fail only on what this file does not have"},
      {"--write-baseline", session.write_baseline, "Write what was found as a baseline"}};
  for (const Flag& flag : flags)
    command.add_option(flag.name, flag.file, flag.help)->type_name("FILE");
  command
      .add_option("--suppress", session.suppress,
                  "Findings that do not count, with reasons (TOML; may be given again)")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_target(CLI::App& command, Session& session, const std::string& help) {
  command.add_option("target", session.targets, help)->type_name("FILE")->required();
  command.footer(launch_help());
}

int fail(const Error& error, const Session& session, const std::string& subject) {
  report::Verdict verdict;
  verdict.subject = subject;
  verdict.verdict = "unknown";
  verdict.reason = error.text();
  verdict.seed = session.options.seed.value_or(1);
  bool undecided = error.code == ErrorCode::unsupported;
  if (session.json)
    print(report::print_json(verdict));
  else if (undecided)
    print(report::print_terminal(verdict, session.style));
  else
    std::fputs(report::print_error(error.text(), session.style).c_str(), stderr);
  switch (error.code) {
  case ErrorCode::unsupported: return kUnknown;
  case ErrorCode::environment: return kEnvironment;
  default: return kUsage;
  }
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void complain(const std::string& text) {
  report::Style style;
  style.color = ::isatty(STDERR_FILENO) && !std::getenv("NO_COLOR");
  std::fputs(report::print_error(text, style).c_str(), stderr);
}

void progress(const std::string& text) {
  if (!::isatty(STDERR_FILENO)) return;
  std::fputs(("\r\033[K" + text).c_str(), stderr);
  std::fflush(stderr);
}

std::string quote(const std::string& word) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

} // namespace assay::cli
