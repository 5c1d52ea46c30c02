// Machine, medians, table; see harness.hpp.
#include "harness.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <fstream>

namespace assay::bench {

namespace portable {
double multiply_adds(long turns);
}
namespace avx2 {
double multiply_adds(long turns);
}
namespace avx512 {
double multiply_adds(long turns);
}

namespace {

struct Level {
  const char* name;
  double (*multiply_adds)(long); // floating-point operations done
};

Level best_level() {
#ifdef ASSAY_HAS_AVX512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return {"avx512", avx512::multiply_adds};
#endif
#ifdef ASSAY_HAS_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {"avx2", avx2::multiply_adds};
#endif
#ifdef ASSAY_HAS_PORTABLE
  return {"portable", portable::multiply_adds};
#else
  return {"none", nullptr};
#endif
}

// CPU time of this thread: other programs on the machine take none of it.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

bool is_number(const std::string& cell) {
  return !cell.empty() && (std::isdigit(static_cast<unsigned char>(cell[0])) || cell[0] == '-');
}

} // namespace

std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

std::string vector_level() { return best_level().name; }

double peak_gflops() {
  const Level level = best_level();
  if (!level.multiply_adds) return 0;
  constexpr long kTurns = 4'000'000;
  const double operations = level.multiply_adds(kTurns); // also wakes the core
  return operations / median_seconds(5, [&] { level.multiply_adds(kTurns); }) / 1e9;
}

double peak_now() {
  const Level level = best_level();
  if (!level.multiply_adds) return 0;
  const double start = now(), operations = level.multiply_adds(200'000);
  return operations / (now() - start) / 1e9;
}

double median(std::vector<double> values) {
  auto middle = values.begin() + ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_seconds(int runs, const std::function<void()>& call) {
  call();
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    const double start = now();
    call();
    seconds.push_back(now() - start);
  }
  return median(seconds);
}

Resident resident() {
  Resident r;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) r.now = std::stoull(line.substr(6)) * 1024;
    if (line.rfind("VmHWM:", 0) == 0) r.most = std::stoull(line.substr(6)) * 1024;
  }
  return r;
}

void forget_most() {
  malloc_trim(0);                              // what is free counts as free
  std::ofstream("/proc/self/clear_refs") << 5; // proc(5)
}

std::string Table::text() const {
  std::vector<size_t> width(head.size(), 0);
  auto widen = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size() && i < width.size(); ++i)
      width[i] = std::max(width[i], row[i].size());
  };
  widen(head);
  for (const auto& row : rows) widen(row);
  std::string out;
  auto print = [&](const std::vector<std::string>& row) {
    for (size_t i = 0; i < row.size() && i < width.size(); ++i)
      out += is_number(row[i]) || (&row == &head && i > 0)
                 ? fmt::format("{:>{}}  ", row[i], width[i])
                 : fmt::format("{:<{}}  ", row[i], width[i]);
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  print(head);
  for (const auto& row : rows) print(row);
  return out;
}

} // namespace assay::bench
