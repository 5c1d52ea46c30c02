// Traces of findings on disk, and the commands that replay them.
#pragma once

#include "cli/judge.hpp"

namespace assay::cli {

// Writes the trace and gives the command that repeats it; nothing when it cannot be written.
std::string replay_command(const Judgement& judgement, const schedule::Trace& trace);

// Of the traces in the session's folder that this run did not write, removes the oldest, until no
// more than this many are left.
inline constexpr size_t kMostTraces = 1000;
void prune_traces(const std::string& directory, size_t most = kMostTraces);

} // namespace assay::cli
