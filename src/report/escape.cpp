// Escaping for the formats with tags; see document.hpp. XML 1.0, section 2.2: no control characters
// but tab and line ends.
#include "report/document.hpp"

#include "base/text.hpp"

namespace assay::report {

std::string escape(std::string_view text) {
  std::string out;
  for (char c : printable(text, 1 << 20)) {
    switch (c) {
    case '&': out += "&amp;"; break;
    case '<': out += "&lt;"; break;
    case '>': out += "&gt;"; break;
    case '"': out += "&quot;"; break;
    default: out += c;
    }
  }
  return out;
}

} // namespace assay::report
