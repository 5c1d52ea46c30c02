// The smallest job that still shows a finding: symbols of a case file, sizes among a bare kernel's
// arguments, grid, block.
#pragma once

#include "cli/witness.hpp"

namespace assay::cli {

// A job as the command line would describe it.
struct Job {
  std::string path;
  cases::Options options;
  Session session; // with the words that `options` came from
  size_t variant = 0;
};

// Checks a job: its finding `goal`, with what is needed to speak of it; nothing where it has none.
struct Shown {
  cases::Prepared prepared;
  cases::Case subject;
  explore::Report explored;
  explore::Finding found;
};
std::optional<Shown> shows(const Job& job, const Goal& goal);

// Makes the job smaller as long as it shows the goal; `changes` says what became smaller.
// `deadline`: a time of vgpu::monotonic_seconds() to stop at.
Job shrink(Job job, const Goal& goal, double deadline, std::vector<std::string>& changes);

} // namespace assay::cli
