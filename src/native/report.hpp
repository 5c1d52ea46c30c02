// What is reported of one examined launch, how it travels to `assay run`, and the table.
#pragma once

#include "native/judge.hpp"
#include "native/protocol.hpp"

namespace assay::native {

struct KernelReport {
  uint64_t process = 0, number = 0; // the launch's number among those of its process, from 1
  Launch launch;
  Verdict verdict = Verdict::unknown;
  std::string kind, reason;
  uint64_t plain_runs = 0, perturbed_runs = 0, differing_bytes = 0;
  uint64_t snapshot_bytes = 0, changed_bytes = 0, accesses = 0;
  std::string place;                                        // of the first differing byte
  std::vector<std::string> pairs;                           // of instructions, likely causes
  std::vector<std::string> notes;                           // what was and was not done
  double milliseconds = 0;                                  // the whole examination
  std::vector<std::pair<std::string, std::string>> figures; // split of the time, counts
};

Message to_message(const KernelReport& report);
KernelReport kernel_report(const Message& message);

// "10 launches examined: 7 pass, 1 fail, 2 unknown".
std::string closing_line(const std::vector<KernelReport>& reports);
// The table for people: one row for each launch, details of failures below it.
std::string table(const std::vector<KernelReport>& reports);

struct Exit {
  bool exited = true; // otherwise ended by a signal
  int code = 0;       // exit code or signal
};
// 1 when something was found; otherwise the program's own code; when that is 0 and a launch stayed
// unknown, or none was examined, 3.
int exit_code(const std::vector<KernelReport>& reports, const Exit& program);

} // namespace assay::native
