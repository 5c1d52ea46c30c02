// Traces of findings: what they are a witness of, the file that holds them, the command that
// replays them.
#pragma once

#include "cli/judge.hpp"

namespace assay::cli {

// Target and launch options that make this job again, quoted: what stands behind `assay check`.
std::string job_words(const Judgement& judgement);

// Writes the trace of a finding and gives the command that repeats it; nothing when it cannot be
// written, or the session has no folder for traces.
std::string write_witness(const Judgement& judgement, schedule::Trace trace,
                          const explore::Finding& found, const std::vector<report::Location>& at);

// The same for a trace that says already what it is a witness of.
std::string write_trace(const Session& session, const schedule::Trace& trace);

// What a trace says of its finding: kind and lines. `job_words` may have been typed elsewhere.
struct Goal {
  std::string kind;
  std::vector<std::pair<std::string, uint32_t>> lines; // file and line, sorted, without repetition
  std::string text() const;                            // "race at defect.cu:18 and defect.cu:22"
};
Goal goal_of(const schedule::Trace& trace);
// Of the exploration's findings the one that this is; null: none.
const explore::Finding* find_goal(const Goal& goal, const Judgement& judgement,
                                  const explore::Report& explored);

// The target and the launch options that a command of a trace names.
struct Target {
  std::string path;
  cases::Options options;
  std::vector<std::string> typed;
};
Result<Target> target_of(const std::string& command);

} // namespace assay::cli
