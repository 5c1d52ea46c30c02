// Names and domains of families, and the loop over elements; the families' values are in
// elements.cpp.
#include "inputs/family.hpp"

#include "base/text.hpp"
#include "inputs/elements.hpp"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace assay::inputs {
namespace {

struct Row {
  std::string_view name;
  std::vector<std::string> parts; // names of part 1, 2, …
};

const std::vector<Row>& rows() { // in the order of FamilyKind and of the part enumerations
  static const std::vector<Row> table = {
      {"auto", {}},
      {"uniform", {}},
      {"normal", {}},
      {"degenerate", {"zeros", "ones", "constant", "one-hot"}},
      {"sparse", {}},
      {"sentinel", {}},
      {"magnitude", {"large", "small", "log", "subnormal"}},
      {"cancellation", {"pairs", "big-small"}},
      {"quantum", {"f16", "bf16", "e4m3"}},
      {"ties", {}},
      {"structure",
       {"indices", "permutation", "mask", "lengths", "offsets", "sorted", "iota", "empty"}},
  };
  return table;
}

} // namespace

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Row& row : rows()) names.emplace_back(row.name);
  return names;
}

Result<Family> family_from(std::string_view text, Span span) {
  std::string_view head = text.substr(0, text.find('/'));
  for (size_t k = 0; k < rows().size(); ++k) {
    const Row& row = rows()[k];
    if (row.name != head) continue;
    if (head.size() == text.size()) return Family{FamilyKind(k), 0};
    std::string_view part = text.substr(head.size() + 1);
    for (size_t p = 0; p < row.parts.size(); ++p)
      if (row.parts[p] == part) return Family{FamilyKind(k), uint8_t(p + 1)};
    std::string known = row.parts.empty() ? "none" : join(row.parts, ", ");
    return usage_error(fmt::format("family '{}' has no part '{}' (parts: {})", head, part, known),
                       span);
  }
  return usage_error(fmt::format("unknown family '{}'{} (families: {})", text,
                                 did_you_mean(head, family_names()), join(family_names(), ", ")),
                     span);
}

std::string name(Family family) {
  const Row& row = rows()[size_t(family.kind)];
  std::string out(row.name);
  if (family.part) out += "/" + row.parts[family.part - 1];
  return out;
}

Domain everything() {
  double infinite = std::numeric_limits<double>::infinity();
  return {-infinite, infinite, true, true};
}
bool Domain::bounded_low() const { return std::isfinite(low); }
bool Domain::bounded_high() const { return std::isfinite(high); }
bool Domain::contains(double value) const {
  return (open_low ? value > low : value >= low) && (open_high ? value < high : value <= high);
}

Result<Domain> domain_from(std::string_view text, Span span) {
  std::string word(trim(text));
  auto wrong = [&](const char* why) {
    return usage_error(
        fmt::format("domain '{}' {}; write an interval such as \"[0, 1)\" or \"(-inf, inf)\"", text,
                    why),
        span);
  };
  size_t comma = word.find(',');
  if (word.size() < 5 || comma == std::string::npos || !strchr("([", word[0]) ||
      !strchr(")]", word.back()))
    return wrong("is not an interval");
  Domain domain;
  domain.open_low = word[0] == '(';
  domain.open_high = word.back() == ')';
  std::string low(trim(word.substr(1, comma - 1)));
  std::string high(trim(word.substr(comma + 1, word.size() - comma - 2)));
  char* end = nullptr;
  domain.low = std::strtod(low.c_str(), &end);
  if (low.empty() || *end || std::isnan(domain.low)) return wrong("has no number as lower end");
  domain.high = std::strtod(high.c_str(), &end);
  if (high.empty() || *end || std::isnan(domain.high)) return wrong("has no number as upper end");
  if (domain.low > domain.high ||
      (domain.low == domain.high && (domain.open_low || domain.open_high)))
    return wrong("is empty");
  return domain;
}

uint64_t element(const Source& source, uint64_t index) {
  if (source.family.kind == FamilyKind::structure) return structure_element(source, index);
  return is_float(source.type) ? float_element(source, index) : integer_element(source, index);
}

std::vector<uint8_t> fill(const Source& source) {
  uint32_t size = bytes(source.type);
  std::vector<uint8_t> out(source.count * size);
  for (uint64_t i = 0; i < source.count; ++i) {
    uint64_t bits = element(source, i);
    std::memcpy(out.data() + i * size, &bits, size);
  }
  return out;
}

} // namespace assay::inputs
