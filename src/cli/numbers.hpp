// What numbers an option takes, for CLI11's check(). Its own reading takes -1 and 2^64 for numbers
// of 64 bits, nothing at all for 0, and NaN for a number within any range.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace assay::cli {

using NumberCheck = std::function<std::string(const std::string&)>; // the complaint, or nothing

NumberCheck whole_number(uint64_t least, uint64_t most);
NumberCheck seconds(); // more than none, a year at most

} // namespace assay::cli
