// Expressions over shape symbols in case files: numbers, names, + - * / % and parentheses, min,
// max, ceildiv. Over integers every step is checked for overflow and / rounds towards zero; over
// reals (values of floating-point scalars) / is division.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace assay::cases {

using Symbols = std::map<std::string, int64_t>;

Result<int64_t> evaluate(const std::string& text, const Symbols& symbols, const Span& span);
Result<double> evaluate_real(const std::string& text, const Symbols& symbols, const Span& span);

} // namespace assay::cases
