// Numbers on the command line; see numbers.hpp.
#include "cli/numbers.hpp"

#include "cases/argument.hpp"

#include <cctype>
#include <cstdlib>
#include <fmt/format.h>

namespace assay::cli {

NumberCheck whole_number(uint64_t least, uint64_t most) {
  return [=](const std::string& text) -> std::string {
    Result<uint64_t> value = cases::parse_unsigned(text, "", {});
    if (value && *value >= least && *value <= most) return "";
    return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
  };
}

NumberCheck seconds() {
  return [](const std::string& text) -> std::string {
    constexpr double kYear = 365.0 * 24 * 3600;
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool begins = !text.empty() && !std::isspace(uint8_t(text[0]));
    if (begins && *end == '\0' && value > 0 && value <= kYear) return ""; // no NaN comes through
    return fmt::format("'{}' is not a number of seconds, above 0 and up to {:.0f}", text, kYear);
  };
}

} // namespace assay::cli
