// The JSON form of a verdict. Its layout is stable: tests/golden holds one file for each kind.
#pragma once

#include "report/verdict.hpp"

namespace assay::report {

std::string print_json(const Verdict& verdict);
// Several verdicts (variants of a case, cases of a folder) with the closing counts.
// `remarks`: on suppressions and the baseline, of all of them together.
std::string print_json(const std::vector<Verdict>& verdicts, const std::vector<Row>& rows,
                       const std::vector<std::string>& remarks = {});

} // namespace assay::report
