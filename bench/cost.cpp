// What `assay determinism` costs: the kernels of tests/kernels/triton at 10^6 to 10^7
// thread-instructions a launch, and how the cost grows with the number of CTAs. Prints a table,
// tab-separated; bench/plot_cost.py draws it.
#include "cases/case.hpp"
#include "explore/explore.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/resource.h>

using namespace assay;

namespace {

struct Row {
  const char* table; // "kernels" or "growth"
  const char* name;
  const char* file; // below tests/kernels/triton
  std::map<std::string, int64_t> set;
};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const char* verdict_of(const explore::Report& report) {
  if (!report.unknown.empty()) return report.unknown.c_str();
  if (report.proved) return "proved";
  return report.deterministic ? "deterministic" : "not deterministic";
}

void measure(const Row& row) {
  cases::Options options;
  options.set = row.set;
  Result<cases::Prepared> prepared = cases::prepare(
      fmt::format("{}/tests/kernels/triton/{}", ASSAY_SOURCE_DIR, row.file), options);
  if (!prepared) return fmt::print("{}: {}\n", row.file, prepared.error().text());
  Result<cases::Case> subject = cases::build(*prepared, 0);
  if (!subject) return fmt::print("{}: {}\n", row.file, subject.error().text());
  uint64_t ctas = 1;
  for (uint32_t extent : subject->job.launches[0].grid) ctas *= extent;
  explore::Options limits;
  limits.threads = 2;
  const double wall = wall_seconds(), cpu = cpu_seconds();
  const explore::Report report = explore::explore(subject->job, limits);
  const double wall_spent = wall_seconds() - wall, cpu_spent = cpu_seconds() - cpu;
  fmt::print("{}\t{}\t{}\t{:.3f}\t{}\t{:.3f}\t{:.3f}\t{}\n", row.table, row.name, ctas,
             double(report.first.thread_instructions) * 1e-6, report.schedules, wall_spent,
             cpu_spent, verdict_of(report));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  fmt::print(
      "table\tkernel\tCTAs\tM thread-instructions\tschedules\tseconds\tCPU seconds\tverdict\n");
  std::vector<Row> rows = {
      {"kernels", "softmax", "softmax/softmax.sm_90.toml", {{"rows", 128}, {"programs", 64}}},
      {"kernels", "layer norm forward", "layer_norm/forward.sm_90.toml", {{"rows", 96}}},
      {"kernels",
       "layer norm backward, locks",
       "layer_norm/backward_locked.sm_90.toml",
       {{"rows", 64}}},
      {"kernels", "layer norm backward", "layer_norm/backward.sm_90.toml", {{"rows", 256}}},
      {"kernels",
       "sum of partial sums",
       "layer_norm/sum_partials.sm_90.toml",
       {{"groups", 256}, {"cols", 1024}}},
      {"kernels", "matmul", "matmul/matmul.sm_80.toml", {{"M", 256}, {"N", 256}, {"K", 256}}},
      {"kernels", "attention", "attention/attention.sm_80.toml", {{"heads", 2}, {"length", 256}}},
      {"kernels", "chained scan", "scan/scan.sm_90.toml", {{"n", 60000}}},
      {"kernels", "histogram", "histogram/histogram.sm_90.toml", {{"n", 100000}}},
      {"kernels", "dropout", "dropout/dropout.sm_90.toml", {{"n", 30000}}},
      {"kernels",
       "Gluon column sums",
       "gluon_stages/column_sums.sm_90.toml",
       {{"tiles", 64}, {"cols", 2048}}},
  };
  // As far as a run stays within its step budget or takes seconds.
  for (int64_t ctas : {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536}) {
    rows.push_back({"growth",
                    "sum of partial sums",
                    "layer_norm/sum_partials.sm_90.toml",
                    {{"groups", 1}, {"cols", 32 * ctas}}});
    if (ctas <= 16384)
      rows.push_back({"growth",
                      "softmax",
                      "softmax/softmax.sm_90.toml",
                      {{"rows", ctas}, {"programs", ctas}, {"cols", 16}}});
    if (ctas <= 4096)
      rows.push_back({"growth", "chained scan", "scan/scan.sm_90.toml", {{"n", 512 * ctas}}});
    if (ctas > 1024) continue;
    rows.push_back(
        {"growth", "matmul", "matmul/matmul.sm_80.toml", {{"M", 64 * ctas}, {"N", 64}, {"K", 32}}});
    rows.push_back({"growth", "histogram", "histogram/histogram.sm_90.toml", {{"n", 2048 * ctas}}});
  }
  for (const Row& row : rows)
    if (argc < 2 || std::strcmp(argv[1], row.table) == 0) measure(row);
  return 0;
}
