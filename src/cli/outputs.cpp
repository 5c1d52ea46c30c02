// Names of files to write; see outputs.hpp.
#include "cli/outputs.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace assay::cli {
namespace fs = std::filesystem;
namespace {

struct Named {
  std::string flag, path;
  bool written = true;
};

std::vector<Named> named_files(const Session& session) {
  std::vector<Named> out = {{"--html", session.html},
                            {"--sarif", session.sarif},
                            {"--junit", session.junit},
                            {"--svg", session.svg},
                            {"--write-baseline", session.write_baseline}};
  for (const cases::LaunchGroup& group : session.options.launches)
    for (const cases::FileOfParameter& file : group.outs)
      out.push_back({fmt::format("--out {}", file.parameter), file.file});
  // --baseline is not among them: to bring a baseline up to date in its place is what people do.
  for (const std::string& target : session.targets) out.push_back({"the target", target, false});
  for (const std::string& file : session.suppress) out.push_back({"--suppress", file, false});
  return out;
}

// Devices and pipes take what several write to them.
bool is_special(const std::string& path) {
  std::error_code unknown;
  return fs::exists(path, unknown) && !fs::is_regular_file(path, unknown) &&
         !fs::is_directory(path, unknown);
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code unknown;
  if (fs::equivalent(a, b, unknown)) return true; // through links as well
  return fs::weakly_canonical(fs::absolute(a), unknown) ==
         fs::weakly_canonical(fs::absolute(b), unknown);
}

} // namespace

Result<void> can_be_written(const std::string& file) {
  std::error_code unknown;
  const fs::path folder = fs::path(file).parent_path();
  auto refuse = [&](const std::string& why) {
    return usage_error(fmt::format("cannot write '{}': {}", file, why));
  };
  if (!folder.empty() && !fs::is_directory(folder, unknown))
    return refuse(fmt::format("there is no folder '{}'", folder.string()));
  if (fs::is_directory(file, unknown)) return refuse("it is a directory");
  const bool special = is_special(file);
  const std::string target = special ? file : folder.empty() ? "." : folder.string();
  if (::access(target.c_str(), W_OK) != 0) return refuse(std::strerror(errno));
  return {};
}

Result<void> check_outputs(const Session& session) {
  const std::vector<Named> files = named_files(session);
  for (size_t i = 0; i < files.size(); ++i) {
    const Named& file = files[i];
    if (!file.written || file.path.empty()) continue;
    if (Result<void> good = can_be_written(file.path); !good) return good;
    if (is_special(file.path)) continue;
    for (size_t j = i + 1; j < files.size(); ++j) {
      const Named& other = files[j];
      if (other.path.empty() || !same_file(file.path, other.path)) continue;
      return usage_error(
          fmt::format("{} and {} name the same file '{}'", file.flag, other.flag, file.path));
    }
  }
  return {};
}

} // namespace assay::cli
