// The edge that two accesses lack, in the words of who wrote the kernel: which construct, at which
// line.
#pragma once

#include "cases/case.hpp"
#include "explore/history.hpp"
#include "report/verdict.hpp"

namespace assay::cli {

struct Edge {
  std::string missing;    // "__threadfence() before the flag's store at k.cu:12"
  std::string help;       // what to do
  std::string brief;      // a few words, for the timeline
  std::string scope = {}; // what it must cover: "warp", "block", "device"
};

// `out` has the two places; `reach` is how far apart other threads are that do the same at these
// lines: the edge must do for them too. Without a diagnosis, what missing_edge() says.
Edge edge_of(const cases::Case& subject, const explore::Finding& found, race::Distance reach,
             const explore::History& history, const report::Finding& out);

} // namespace assay::cli
