// Traces on disk; see traces.hpp.
#include "cli/traces.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>

namespace assay::cli {

std::string replay_command(const Judgement& judgement, const schedule::Trace& trace) {
  const Session& session = judgement.session;
  if (session.trace_directory.empty()) return ""; // a mutant's traces would fit no kernel
  std::string text = trace.text();
  std::string path = session.trace_directory + "/" +
                     hash128(text.data(), text.size()).hex().substr(0, 16) + ".trace";
  if (!write_file(path, text)) return "";
  std::string out =
      fmt::format("{} replay {} {}", session.program, quote(path), quote(judgement.prepared.path));
  // Of the launch options those that shape the job; the schedule is the trace's.
  static const std::vector<std::string> skipped = {"--out",    "--want",  "--show",    "--schedule",
                                                   "--budget", "--check", "--fail-on", "--seed"};
  const std::vector<std::string>& typed = session.typed;
  for (size_t i = 0; i < typed.size(); ++i) {
    std::string name = typed[i].substr(0, typed[i].find('='));
    if (std::find(skipped.begin(), skipped.end(), name) != skipped.end()) {
      if (name == typed[i]) ++i;
      continue;
    }
    out += " " + quote(typed[i]);
  }
  if (judgement.subject.seed != 1) out += fmt::format(" --seed {}", judgement.subject.seed);
  if (judgement.variant)
    for (const auto& [name, value] : judgement.prepared.file->variants[judgement.variant - 1])
      out += fmt::format(" --set {}={}", name, value);
  return out;
}

// Only files that look like ours are touched.
void prune_traces(const Session& session, size_t most) {
  namespace fs = std::filesystem;
  if (session.trace_directory != Session().trace_directory) return;
  const std::string& directory = session.trace_directory;
  // Times of files are coarser than the clock.
  const fs::file_time_type started = session.started - std::chrono::seconds(1);
  struct Kept {
    fs::file_time_type time;
    fs::path path;
  };
  std::vector<Kept> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    bool ours = name.size() == 22 && name.ends_with(".trace") &&
                name.find_first_not_of("0123456789abcdef") == 16;
    std::error_code ignored;
    if (ours && it->is_regular_file(ignored))
      found.push_back({fs::last_write_time(it->path(), ignored), it->path()});
  }
  if (found.size() <= most) return;
  std::sort(found.begin(), found.end(),
            [](const Kept& a, const Kept& b) { return a.time < b.time; });
  for (size_t i = 0; i + most < found.size() && found[i].time < started; ++i)
    fs::remove(found[i].path, error);
}

} // namespace assay::cli
