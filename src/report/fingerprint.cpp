// Fingerprints of findings; see fingerprint.hpp.
#include "report/fingerprint.hpp"

#include "base/hash.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>

namespace assay::report {

std::string fingerprint(const Finding& finding, Sources& sources) {
  std::vector<std::string> places;
  for (const Location& location : finding.locations) {
    std::string code;
    for (char c : sources.code(location))
      if (!std::isspace(uint8_t(c))) code += c;
    // Without its text a line has only its number.
    if (code.empty())
      code = fmt::format("{}:{}", std::filesystem::path(location.file).filename().string(),
                         location.line);
    places.push_back(location.function + "\n" + code);
  }
  // Which of the two came first is the schedule's.
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  // Where there is no place, the sentence is all there is.
  if (places.empty()) places.push_back(finding.message);
  std::string text = finding.kind + "\n" + finding.space;
  for (const std::string& place : places) text += "\n" + place;
  return hash128(text.data(), text.size()).hex().substr(0, 16);
}

} // namespace assay::report
