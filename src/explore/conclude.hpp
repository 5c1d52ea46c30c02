// From what the runs of a job showed to its findings: which conflicts are defects, which only
// remarks, and what merely follows from them (docs/concurrency.md, section 7).
#pragma once

#include "explore/pairs.hpp"

namespace assay::explore {

struct DifferingRun { // left other bytes than the canonical one
  std::string policy;
  schedule::Trace trace;
  Digest digest;
  std::vector<Difference> differing;
  std::vector<vgpu::Outcome::MissedRead> missed_reads;
};

void conclude(const vgpu::JobSpec& job, Pairs& pairs, const std::vector<DifferingRun>& differing,
              Report& report);

} // namespace assay::explore
