// Traces of findings on disk, and the commands that replay them.
#pragma once

#include "cli/judge.hpp"

namespace assay::cli {

// Writes the trace and gives the command that repeats it; nothing when it cannot be written.
std::string replay_command(const Judgement& judgement, const schedule::Trace& trace);

// Removes the oldest traces in the usual folder, until no more than this many are left; none that
// this run wrote. A folder that a person named is that person's.
inline constexpr size_t kMostTraces = 1000;
void prune_traces(const Session& session, size_t most = kMostTraces);

} // namespace assay::cli
