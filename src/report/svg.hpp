// The race timeline as a picture: two lanes, time runs down, barriers lie across both, the missing
// edge is dashed, and below stand both orders with the bytes that they leave. Text that can be read
// aloud and copied, colours for light and dark, nothing from outside; the same finding gives the
// same bytes.
#pragma once

#include "report/sources.hpp"

namespace assay::report {

// A whole SVG document, or, `inlined`, the element alone for a page; `name` keeps ids of several
// apart. Empty when the finding has no timeline.
std::string print_svg(const Finding& finding, Sources& sources,
                      const std::string& name = "timeline", bool inlined = false);

} // namespace assay::report
