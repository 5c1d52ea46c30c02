// Stamps of committed PTX.
#include "compile/stamp.hpp"

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

#include <filesystem>
#include <set>

namespace assay::compile {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kCommand = "// assay-compile: ";
constexpr std::string_view kHash = "// assay-hash: ";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string command_of(const CompileRequest& request) {
  std::string out = "--gpu-architecture=" + request.arch + " -lineinfo";
  for (const std::string& flag : request.flags) out += " " + flag;
  for (const std::string& entry : request.entries) out += " --entry=" + entry;
  return out + " " + request.file;
}

// The file named by `#include "…"` on this line, or empty.
std::string quoted_include(std::string_view line) {
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
  if (!starts_with(line, "#")) return "";
  line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t", 1)));
  if (!starts_with(line, "include")) return "";
  const size_t open = line.find('"'), close = line.find('"', open + 1);
  if (open == std::string_view::npos || close == std::string_view::npos) return "";
  return std::string(line.substr(open + 1, close - open - 1));
}

// Adds a file and, depth first, what it includes from folders of the case. Each file counts once.
bool add_file(const fs::path& path, std::set<std::string>& seen, Hasher& hasher) {
  if (!seen.insert(path.lexically_normal().string()).second) return true;
  const Result<std::string> text = read_file(path.string());
  if (!text) return false;
  hasher.add_u64(text->size());
  hasher.add(*text);
  for (const std::string& line : split_lines(*text))
    if (const std::string name = quoted_include(line); !name.empty())
      add_file(path.parent_path() / name, seen, hasher); // elsewhere: a toolkit's header, say
  return true;
}

// The first line of `text` without its end, and the rest.
std::pair<std::string_view, std::string_view> first_line(std::string_view text) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return {text, {}};
  std::string_view line = text.substr(0, end);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return {line, text.substr(end + 1)};
}

} // namespace

Result<PtxStamp> stamp_of(const CompileRequest& request) {
  PtxStamp stamp{command_of(request), ""};
  Hasher hasher;
  hasher.add_u64(stamp.command.size());
  hasher.add(stamp.command);
  std::set<std::string> seen;
  if (!add_file(source_path(request), seen, hasher))
    return usage_error("cannot read " + source_path(request));
  stamp.hash = hasher.digest().hex();
  return stamp;
}

std::optional<PtxStamp> read_stamp(std::string_view ptx) {
  PtxStamp stamp;
  while (starts_with(ptx, "//")) {
    auto [line, rest] = first_line(ptx);
    if (starts_with(line, kCommand)) stamp.command = line.substr(kCommand.size());
    if (starts_with(line, kHash)) stamp.hash = line.substr(kHash.size());
    ptx = rest;
  }
  if (stamp.command.empty() || stamp.hash.empty()) return std::nullopt;
  return stamp;
}

std::string with_stamp(std::string_view ptx, const PtxStamp& stamp) {
  std::string out =
      std::string(kCommand) + stamp.command + "\n" + std::string(kHash) + stamp.hash + "\n";
  while (starts_with(ptx, kCommand) || starts_with(ptx, kHash)) ptx = first_line(ptx).second;
  return out.append(ptx);
}

Result<Freshness> check_stamp(std::string_view ptx, const CompileRequest& request) {
  const std::optional<PtxStamp> found = read_stamp(ptx);
  if (!found) return Freshness::unstamped;
  Result<PtxStamp> now = stamp_of(request);
  if (!now) return now.error();
  return *found == *now ? Freshness::fresh : Freshness::stale;
}

} // namespace assay::compile
