// The folder of traces; see traces.hpp.
#include "cli/traces.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <vector>

namespace assay::cli {

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
