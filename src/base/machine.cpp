// Memory of the machine and of the control group; see machine.hpp.
#include "base/machine.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <unistd.h>

namespace assay {
namespace {
constexpr uint64_t kShare = 16;                  // of all memory
constexpr uint64_t kAlways = uint64_t(64) << 20; // bytes that are tried anywhere
} // namespace

uint64_t memory_of_machine() {
  uint64_t bytes = uint64_t(::sysconf(_SC_PHYS_PAGES)) * uint64_t(::sysconf(_SC_PAGESIZE));
  if (Result<std::string> limit = read_file("/sys/fs/cgroup/memory.max")) { // "max" or a number
    uint64_t value = 0;
    auto [end, error] = std::from_chars(limit->data(), limit->data() + limit->size(), value);
    if (error == std::errc() && end != limit->data()) bytes = std::min(bytes, value);
  }
  return bytes;
}

Result<void> room_for(uint64_t bytes, const std::string& what, const Span& span) {
  static const uint64_t memory = memory_of_machine();
  if (bytes <= std::max(kAlways, memory / kShare)) return {};
  constexpr double kGiB = 1 << 30;
  Error error = environment_error(fmt::format(
      "{} hold{} {:.1f} GiB: runs keep several copies of that, and this machine has "
      "{:.1f} GiB of memory",
      what, what.ends_with("s") ? "" : "s", double(bytes) / kGiB, double(memory) / kGiB));
  error.span = span;
  return error;
}

} // namespace assay
