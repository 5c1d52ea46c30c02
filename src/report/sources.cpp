// Excerpts of source files; see sources.hpp.
#include "report/sources.hpp"

#include "base/file.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace assay::report {

namespace {
std::string triple(const uint32_t (&v)[3]) { return fmt::format("({},{},{})", v[0], v[1], v[2]); }
} // namespace

std::string Sources::line(const Location& location) {
  if (location.source.empty() || location.line == 0) return "";
  auto [slot, fresh] = files_.try_emplace(location.source);
  if (fresh)
    if (Result<std::string> text = read_file(location.source)) slot->second = split_lines(*text);
  if (location.line > slot->second.size()) return "";
  std::string line;
  for (char c : slot->second[location.line - 1])
    line += c == '\t' ? std::string(4, ' ') : std::string(1, c);
  return line;
}

std::string Sources::code(const Location& location) {
  std::string text = line(location);
  return std::string(trim(text.substr(0, code_end(text))));
}

size_t code_end(const std::string& line) {
  size_t comment = line.find("//");
  size_t end =
      comment == std::string::npos || trim(line.substr(0, comment)).empty() ? line.size() : comment;
  while (end > 0 && line[end - 1] == ' ') --end;
  return end;
}

std::string describe(const Location& location) {
  std::string who;
  if (location.thread)
    who = fmt::format("thread {} of block {}", triple(location.thread->thread),
                      triple(location.thread->block));
  std::string what = location.operation, where;
  if (location.buffer == kNoBuffer)
    where = fmt::format("address 0x{:x}", location.offset);
  else if (!location.buffer.empty())
    where = fmt::format("{} byte {}", location.buffer, location.offset);
  if (what.empty())
    return where.empty() ? who : who.empty() ? where : fmt::format("{}, {}", who, where);
  std::string out = who.empty() ? what : who + " " + what;
  return where.empty() ? out : fmt::format("{}, {}", out, where);
}

} // namespace assay::report
