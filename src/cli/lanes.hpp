// From what two threads did (explore/history.hpp) to the timeline that reports draw.
#pragma once

#include "cases/case.hpp"
#include "cli/edge.hpp"
#include "explore/history.hpp"
#include "report/verdict.hpp"

namespace assay::cli {

report::Timeline timeline_of(const cases::Case& subject, const explore::Finding& found,
                             const explore::History& history, const Edge& edge);

// One operation of a thread: its place and what it does for the order of others.
report::TimelineStep step_of(const cases::Case& subject, uint32_t launch,
                             const ir::Program& program, const explore::HistoryStep& step);

} // namespace assay::cli
