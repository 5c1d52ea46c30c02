// What makes two findings the same from one run, or one state of a source, to the next: kind,
// memory space, functions and the text of the lines, without blanks and comments. Lines may move,
// names of files and schedules change.
#pragma once

#include "report/sources.hpp"

namespace assay::report {

// 16 hexadecimal digits.
std::string fingerprint(const Finding& finding, Sources& sources);

} // namespace assay::report
