// JUnit XML, as build servers read it: a testcase for each case, with the report of what failed.
#pragma once

#include "report/document.hpp"

namespace assay::report {

std::string print_junit(const Document& document);

} // namespace assay::report
