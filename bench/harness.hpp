// What every benchmark shares: the machine, the core's measured peak, medians, and a table.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay::bench {

// `AMD EPYC 9654`, as the system names it.
std::string processor();

// The widest vector level that both this program and this processor have: portable, avx2, avx512.
std::string vector_level();

// G f32 operations a second of one core (a fused multiply-add counts as two) at that level, by a
// loop of independent multiply-adds that never leaves the registers.
double peak_gflops();

// The same by one short turn: to be taken between the runs of a kernel, since a busy machine may
// change its speed by the second.
double peak_now();

// CPU seconds of one call: the median of `runs` calls, after one that is not counted.
double median_seconds(int runs, const std::function<void()>& call);

double median(std::vector<double> values);

// Bytes of this process in memory: now, and at most so far. 0 where the system does not tell.
struct Resident {
  uint64_t now = 0, most = 0;
};
Resident resident();
void forget_most(); // from now on

// Columns are as wide as their widest cell; numbers are right-aligned.
struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
  std::string text() const;
};

} // namespace assay::bench
