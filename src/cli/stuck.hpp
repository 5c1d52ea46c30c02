// Deadlocks and hangs in words and as a timeline: each kind of thread that waits, what it did last,
// what it waits for and who was expected.
#pragma once

#include "cases/case.hpp"
#include "explore/explore.hpp"
#include "report/verdict.hpp"

namespace assay::cli {

struct Stuck {
  std::string message, help; // empty: nothing better than the usual
  std::vector<report::Timeline> charts;
};

// `out` has the places. With `watch` a replay tells what the threads did last.
Stuck stuck_of(const cases::Case& subject, const explore::Finding& found,
               const report::Finding& out, const explore::Options& options, bool watch);

} // namespace assay::cli
