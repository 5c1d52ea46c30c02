// SARIF 2.1.0, which code hosts and editors show beside the source: a rule for each kind, a result
// for each finding and note, the two accesses as locations, their timeline as code flows.
#pragma once

#include "report/document.hpp"

namespace assay::report {

std::string print_sarif(const Document& document);

} // namespace assay::report
