// The folder of traces, kept from growing without end. What is written there: witness.hpp.
#pragma once

#include "cli/session.hpp"

#include <cstddef>

namespace assay::cli {

// Removes the oldest traces in the usual folder, until no more than this many are left; none that
// this run wrote. A folder that a person named is that person's.
inline constexpr size_t kMostTraces = 1000;
void prune_traces(const Session& session, size_t most = kMostTraces);

} // namespace assay::cli
