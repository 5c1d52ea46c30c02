// What compilers write, made fit for people: the log as an error with a place, and paths in PTX.
#include "compile/compile.hpp"

#include "base/text.hpp"

#include <cstdlib>
#include <fmt/format.h>

namespace assay::compile {
namespace {

// `FILE(LINE): error: MESSAGE`, the form of both NVRTC and nvcc ("catastrophic error" too).
bool parse_complaint(const std::string& line, Error& error) {
  const size_t mark = line.find("error: ");
  const size_t close = line.find("): ");
  if (mark == std::string::npos || close == std::string::npos || close > mark) return false;
  const size_t open = line.rfind('(', close);
  if (open == std::string::npos) return false;
  error.span.file = line.substr(0, open);
  error.span.line = uint32_t(std::strtoul(line.c_str() + open + 1, nullptr, 10));
  error.message = "does not compile: " + line.substr(mark + 7);
  return true;
}

bool needs_host(const std::string& log) {
  for (const char* mark : {"cannot open source file", "is considered a host", "in JIT mode",
                           "identifier \"cuda", "namespace \"std\" has no member"})
    if (log.find(mark) != std::string::npos) return true;
  return false;
}

} // namespace

Error log_error(const CompileRequest& request, const std::string& log) {
  Error error = usage_error("does not compile", {source_path(request), 0, 0});
  for (const std::string& line : split_lines(log))
    if (parse_complaint(line, error)) break;
  std::string whole = log;
  while (!whole.empty() && whole.back() == '\n') whole.pop_back();
  error.notes.push_back("the compiler's log:\n" + whole);
  if (needs_host(log))
    error.notes.push_back(
        "only device code can be compiled here: keep host functions, <<<…>>> launches "
        "and host headers out of the file, or behind #ifndef __CUDACC_RTC__, or put nvcc and a "
        "host compiler on the PATH, which compile whole programs");
  return error;
}

bool asks_for_host(const Error& refused) {
  for (const std::string& note : refused.notes)
    if (needs_host(note)) return true;
  return false;
}

std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (c == '\n' || c == '\t')
      out += c == '\n' ? "\\n" : "\\t";
    else if (uint8_t(c) < ' ' || uint8_t(c) >= 127)
      out += fmt::format("\\{:03o}", uint8_t(c));
    else
      out += c;
  }
  return out;
}

std::string relative_files(const std::string& ptx, const std::string& directory,
                           const std::vector<std::string>& headers) {
  std::string out;
  out.reserve(ptx.size());
  for (std::string line : split_lines(ptx)) {
    const size_t quote = line.find('"');
    const size_t first = line.find_first_not_of(" \t");
    if (quote != std::string::npos &&
        line.compare(first, 6, ".file\t") * line.compare(first, 6, ".file ") == 0) {
      std::string replacement;
      size_t longest = 0;
      auto consider = [&](const std::string& folder, const char* instead) {
        const std::string prefix = escaped(folder);
        if (prefix.empty() || prefix.size() < longest) return;
        if (line.compare(quote + 1, prefix.size() + 1, prefix + "/") != 0) return;
        longest = prefix.size();
        replacement = instead;
      };
      consider(directory, "");
      for (const std::string& folder : headers) consider(folder, "cuda/");
      if (longest) line.replace(quote + 1, longest + 1, replacement);
    }
    out += line;
    out += '\n';
  }
  return out;
}

} // namespace assay::compile
