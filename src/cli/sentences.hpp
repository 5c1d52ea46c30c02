// What a report says of a finding, in sentences.
#pragma once

#include "explore/explore.hpp"
#include "report/verdict.hpp"

namespace assay::cli {

const char* space_name(race::Space space);
// "shared", "global", "local" or nothing.
std::string space_of(const explore::Finding& found);

// "writes 4 bytes"; of a copy "an asynchronous copy writes 4 bytes".
std::string operation_of(const report::Location& location, const race::AccessInfo& info);

// One sentence that names both threads, both lines, the space and the missing edge.
std::string conflict_sentence(const explore::Finding& found, const report::Finding& out);
// The same of what is no conflict.
std::string event_sentence(const explore::Finding& found, const report::Finding& out);
// Of a note about a conflict.
std::string note_sentence(const explore::Finding& found, const report::Finding& out);

// Where the bytes of a conflict are, and what an edge between the two must cover.
std::string cover_sentence(const explore::Finding& found, const report::Finding& out);
// Which orders were run; empty where that goes without saying.
std::string orders_sentence(const explore::Finding& found);

} // namespace assay::cli
