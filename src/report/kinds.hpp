// Every kind of finding and note: what it means, an example, the usual fix. One table serves
// `assay explain`, the `help:` lines and the list of kinds that JSON readers may meet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

struct Kind {
  std::string_view name;
  bool note;                // a remark that decides nothing
  std::string_view title;   // one line
  std::string_view meaning; // a paragraph
  std::string_view example; // code, or empty
  std::string_view fix;     // one or two sentences
};

const std::vector<Kind>& kinds();
const Kind* find_kind(std::string_view name);

} // namespace assay::report
