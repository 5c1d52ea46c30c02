// A report as one page that needs nothing else: verdicts, findings with their lines of source and
// timelines, differing bytes, coverage, notes, commands to replay. The same document gives the same
// bytes.
#pragma once

#include "report/document.hpp"

namespace assay::report {

std::string print_html(const Document& document);

// The style sheet of such pages.
const char* page_style();

} // namespace assay::report
