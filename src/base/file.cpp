// Whole files in and out; see file.hpp.
#include "base/file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <unistd.h>

namespace assay {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Error failure(const char* what, const std::string& path) {
  return usage_error(std::string("cannot ") + what + " '" + path + "': " + std::strerror(errno));
}

} // namespace

Result<std::string> read_file(const std::string& path, uint64_t most) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    errno = EISDIR;
    return failure("read", path);
  }
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return failure("read", path);
  std::string content;
  char block[1 << 16];
  while (size_t n = std::fread(block, 1, sizeof block, file.get())) {
    if (content.size() + n > most) {
      errno = EFBIG;
      return failure("read", path);
    }
    content.append(block, n);
  }
  if (std::ferror(file.get())) return failure("read", path);
  return content;
}

Result<void> write_file(const std::string& path, std::string_view content) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  std::error_code missing;
  bool special = std::filesystem::exists(path, missing) &&
                 !std::filesystem::is_regular_file(path, missing); // /dev/stdout, a pipe
  std::string target = special ? path : path + ".part" + std::to_string(::getpid());
  File file(std::fopen(target.c_str(), "wb"));
  if (!file) return failure("write", path);
  bool written = std::fwrite(content.data(), 1, content.size(), file.get()) == content.size();
  written = std::fflush(file.get()) == 0 && written;
  file.reset();
  if (written && !special) written = std::rename(target.c_str(), path.c_str()) == 0;
  if (!written) {
    Error failed = failure("write", path);
    if (!special) std::remove(target.c_str());
    return failed;
  }
  return {};
}

} // namespace assay
