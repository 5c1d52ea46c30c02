// The race timeline as text: one column for each of the two threads, time runs down, barriers that
// both passed lie across both, and between the two accesses stands what is missing. svg.hpp draws
// the same. Of threads that wait for ever each lane ends with what it waits for.
//
//          thread (1,0,0) of block (0,0,0)        thread (32,0,0) of block (0,0,0)
//       19 ╪═══════ barrier: __syncthreads(); ═══════╪
//       22 ● reads: v = partial[lane];               │
//          ╎ ✗ unordered; missing: __syncthreads()   ╎
//          │                                      18 ● writes: partial[warp] = v;
#pragma once

#include "report/sources.hpp"
#include "report/terminal.hpp"

namespace assay::report {

// Empty when the finding has no timeline. Each line starts with `indent` blanks.
std::string print_timeline(const Finding& finding, size_t indent, const Style& style,
                           Sources& sources);

// "reads: v = partial[lane];": what a step is, who did it, and its line of source.
std::string step_text(const TimelineStep& step, Sources& sources);

// Columns that the text takes on a terminal.
size_t columns(std::string_view text);
// At most that many, the end replaced by "…" where it is longer.
std::string cut(const std::string& text, size_t most);
// Rows of at most that many, the later ones indented by two.
std::vector<std::string> wrapped(const std::string& text, size_t most);

} // namespace assay::report
