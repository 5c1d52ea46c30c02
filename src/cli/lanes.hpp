// From what two threads did (explore/history.hpp) to the timeline that reports draw.
#pragma once

#include "cases/case.hpp"
#include "cli/edge.hpp"
#include "explore/history.hpp"
#include "report/verdict.hpp"

namespace assay::cli {

report::Timeline timeline_of(const cases::Case& subject, const explore::Finding& found,
                             const explore::History& history, const Edge& edge);

} // namespace assay::cli
