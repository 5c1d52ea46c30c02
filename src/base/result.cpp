// Text form of an Error: the place first, as compilers print it, so that editors can jump to it.
#include "base/result.hpp"

#include <fmt/format.h>

namespace assay {

std::string Error::text() const {
  std::string out;
  if (!span.file.empty()) out += span.file + ":";
  if (span.line) out += fmt::format("{}:", span.line);
  if (span.line && span.column) out += fmt::format("{}:", span.column);
  if (!out.empty()) out += " ";
  out += message;
  for (const std::string& note : notes) out += "\n  note: " + note;
  return out;
}

} // namespace assay
