// The rows of isa.def, their index by opcode, and the rule for targets.
// Targets: PTX ISA 9.0, section 11.1.2 (.target), "a" and "f" suffixes.
#include "ptx/isa.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

namespace assay::ptx {
namespace {

constexpr IsaRow kRows[] = {
#define ISA(section, opcode, modifiers, operands, ptx, sm)                                         \
  {section, opcode, modifiers, operands, ptx, UINT16_MAX, sm},
#define ISA_UNTIL(section, opcode, modifiers, operands, ptx, until, sm)                            \
  {section, opcode, modifiers, operands, ptx, until, sm},
#include "ptx/isa.def"
#undef ISA
#undef ISA_UNTIL
};

struct Set {
  std::string_view name, alternatives;
};
constexpr Set kSets[] = {
#define SET(name, alternatives) {#name, alternatives},
#include "ptx/isa_sets.def"
#undef SET
};

struct Word {
  std::string_view opcode, words;
  uint16_t version;
  std::string_view sm;
};
constexpr Word kWords[] = {
#define WORD(opcode, words, version, sm) {opcode, words, version, sm},
#include "ptx/isa_words.def"
#undef WORD
};

struct Target {
  uint32_t number = 0;
  char suffix = 0;
};

// Whether every blank-separated word is among the modifiers.
bool contains(std::span<const std::string> modifiers, std::string_view words) {
  while (!words.empty()) {
    size_t blank = std::min(words.find(' '), words.size());
    if (std::find(modifiers.begin(), modifiers.end(), words.substr(0, blank)) == modifiers.end())
      return false;
    words.remove_prefix(std::min(blank + 1, words.size()));
  }
  return true;
}

bool concerns(std::string_view rule, std::string_view opcode) {
  if (rule.starts_with('!')) return rule.substr(1) != opcode;
  return rule.empty() || rule == opcode;
}

Target parse_target(std::string_view text) {
  Target result;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.number);
  if (error == std::errc() && end != text.data() + text.size()) result.suffix = *end;
  return result;
}

// Families: 100f covers 100 and 103, 110f (formerly 101) itself, 120f covers 120 and 121.
uint32_t family(uint32_t number) {
  if (number == 100 || number == 103) return 100;
  if (number == 101 || number == 110) return 110;
  if (number == 120 || number == 121) return 120;
  return number;
}

bool allows(Target wanted, Target have) {
  if (wanted.number <= 70 && !wanted.suffix)
    return true; // also for the older targets that modules may name
  if (wanted.suffix == 'a') return have.suffix == 'a' && have.number == wanted.number;
  if (wanted.suffix == 'f')
    return (have.suffix == 'a' || have.suffix == 'f') &&
           family(have.number) == family(wanted.number) && have.number >= wanted.number;
  return have.number >= wanted.number;
}

using Index = std::unordered_map<std::string_view, std::vector<const IsaRow*>>;

Index make_index() {
  Index index;
  for (const IsaRow& row : kRows) index[row.opcode].push_back(&row);
  return index;
}

} // namespace

std::span<const IsaRow> isa_rows() { return kRows; }

std::span<const IsaRow* const> isa_rows(std::string_view opcode) {
  static const Index index = make_index();
  auto found = index.find(opcode);
  if (found == index.end()) return {};
  return found->second;
}

std::string_view isa_set(std::string_view name) {
  for (const Set& set : kSets)
    if (set.name == name) return set.alternatives;
  return {};
}

bool target_allows(std::string_view sm, std::string_view target, uint32_t version) {
  if (target.starts_with("sm_")) target.remove_prefix(3);
  Target have = parse_target(target);
  while (!sm.empty()) {
    size_t blank = std::min(sm.find(' '), sm.size());
    std::string_view item = sm.substr(0, blank);
    size_t at = std::min(item.find('@'), item.size());
    uint32_t since = 0; // "89@81": sm_89 only since version 8.1
    if (at < item.size()) since = parse_target(item.substr(at + 1)).number;
    if (version >= since && allows(parse_target(item.substr(0, at)), have)) return true;
    sm.remove_prefix(std::min(blank + 1, sm.size()));
  }
  return false;
}

Availability availability(const IsaRow& row, std::span<const std::string> modifiers,
                          uint32_t version, std::string_view target) {
  auto unmet = [&](uint32_t first, std::string_view sm) {
    // Version 6.0 and sm_70 are where the table starts; older modules get the benefit.
    return (first > 60 && version < first) || !target_allows(sm, target, version);
  };
  if (version > row.until) return {true, true, {row.until, row.sm, ""}};
  if (unmet(row.ptx, row.sm)) return {true, false, {row.ptx, row.sm, ""}};
  for (const Word& word : kWords)
    if (concerns(word.opcode, row.opcode) && contains(modifiers, word.words) &&
        unmet(word.version, word.sm))
      return {true, false, {word.version, word.sm, word.words}};
  return {};
}

} // namespace assay::ptx
