// Everything that one command found, for the formats that go to files.
#pragma once

#include "report/verdict.hpp"

namespace assay::report {

struct CaseResult { // a target: a kernel, a case file with its variants
  Row row;
  std::vector<Verdict> verdicts; // one for each variant; empty: it could not be run
};

struct Document {
  std::string command; // "check"
  std::string version; // of Assay
  std::vector<CaseResult> cases;
};

// For text between tags and in attributes of HTML, SVG and XML: markup characters escaped; what XML
// cannot hold, replaced.
std::string escape(std::string_view text);

} // namespace assay::report
