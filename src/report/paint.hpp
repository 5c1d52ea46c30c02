// Colours of the terminal, one meaning each.
#pragma once

#include "report/terminal.hpp"

#include <fmt/format.h>

namespace assay::report {

enum class Paint : uint8_t { error, warning, note, frame, strong, good };

inline std::string paint(const std::string& text, Paint what, const Style& style) {
  if (!style.color) return text;
  const char* code = what == Paint::error     ? "1;31"
                     : what == Paint::warning ? "1;33"
                     : what == Paint::note    ? "1;36"
                     : what == Paint::frame   ? "1;34"
                     : what == Paint::good    ? "1;32"
                                              : "1";
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

} // namespace assay::report
