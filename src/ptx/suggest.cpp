// The nearest known form for an instruction that no row of isa.def has. Edit distance in the sense
// of Levenshtein; for modifiers the distance is minimised over all spellings of a pattern at once,
// by the automaton of pattern.cpp with costs in place of bits.
#include "ptx/isa.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::ptx {
namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

// A forgotten modifier is a likelier slip than a misspelled one, and that than a superfluous one;
// types are what one knows best.
constexpr uint32_t kMissing = 2;
uint32_t superfluous(std::string_view have) { return type_from(have) == Type::none ? 4 : 5; }
uint32_t cost(std::string_view wanted, std::string_view have) {
  return wanted == have ? 0 : 2 + edit_distance(wanted, have);
}

class NearestFinder {
public:
  using States = std::vector<Nearest>; // by number of modifiers consumed

  explicit NearestFinder(std::span<const std::string> mods) : mods_(mods) {}

  States start() const {
    States states(mods_.size() + 1);
    states[0].distance = 0;
    return skip(std::move(states));
  }

  States alternatives(std::string_view& p, const States& from) {
    States best(mods_.size() + 1);
    while (true) {
      merge(best, sequence(p, from));
      if (p.empty() || p[0] != '|') return best;
      p.remove_prefix(1);
    }
  }

private:
  // Modifiers that the pattern does not have are dropped.
  States skip(States states) const {
    for (size_t i = 0; i < mods_.size(); ++i)
      if (states[i].distance != UINT32_MAX)
        improve(states[i + 1], states[i].distance + superfluous(mods_[i]), states[i].text);
    return states;
  }

  static void improve(Nearest& state, uint32_t distance, const std::string& text) {
    if (distance < state.distance) state = {distance, text};
  }

  static void merge(States& into, const States& other) {
    for (size_t i = 0; i < into.size(); ++i) improve(into[i], other[i].distance, other[i].text);
  }

  States sequence(std::string_view& p, States at) {
    while (!p.empty() && p[0] != '|' && p[0] != '}' && p[0] != ')') {
      if (p[0] == '{' || p[0] == '(') {
        bool optional = p[0] == '{';
        p.remove_prefix(1);
        States inside = alternatives(p, at);
        p.remove_prefix(1);
        if (optional) merge(inside, at);
        at = std::move(inside);
        continue;
      }
      size_t n = 1;
      while (n < p.size() && is_word_char(p[n])) ++n;
      std::string_view word = p.substr(0, n);
      p.remove_prefix(n);
      if (word[0] == '.') {
        at = literal(word, at);
      } else {
        std::string_view set = isa_set(word);
        at = alternatives(set, at);
      }
    }
    return at;
  }

  States literal(std::string_view word, const States& at) const {
    States next(mods_.size() + 1);
    for (size_t i = 0; i <= mods_.size(); ++i) {
      if (at[i].distance == UINT32_MAX) continue;
      std::string text = at[i].text + std::string(word);
      improve(next[i], at[i].distance + kMissing, text);
      if (i < mods_.size()) improve(next[i + 1], at[i].distance + cost(word, mods_[i]), text);
    }
    return skip(std::move(next));
  }

  std::span<const std::string> mods_;
};

// The nearest form of any opcode, or nothing when none is near.
std::string nearest_form(const Instruction& instruction) {
  uint32_t best = uint32_t(std::max<size_t>(1, instruction.opcode.size() / 2));
  Nearest form;
  std::string result;
  for (const IsaRow& row : isa_rows()) {
    uint32_t distance = edit_distance(row.opcode, instruction.opcode);
    if (distance > best) continue;
    if (distance < best) form = Nearest();
    best = distance;
    Nearest candidate = nearest_variant(row.modifiers, instruction.modifiers);
    if (candidate.distance < form.distance) {
      result = std::string(row.opcode) + candidate.text;
      form = std::move(candidate);
    }
  }
  return result;
}

std::string spelled(const Instruction& instruction) {
  std::string text = instruction.opcode;
  for (const std::string& mod : instruction.modifiers) text += mod;
  return text;
}

std::string version_text(uint32_t version) {
  return fmt::format("{}.{}", version / 10, version % 10);
}

} // namespace

uint32_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<uint32_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = uint32_t(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    uint32_t diagonal = row[0];
    row[0] = uint32_t(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      uint32_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

Nearest nearest_variant(std::string_view pattern, std::span<const std::string> modifiers) {
  NearestFinder finder(modifiers);
  return finder.alternatives(pattern, finder.start()).back();
}

Error explain_unknown(const Instruction& instruction, const Module& module) {
  Span span{module.file, instruction.position.line, instruction.position.column};
  std::span<const IsaRow* const> rows = isa_rows(instruction.opcode);
  if (rows.empty()) {
    Error error = usage_error(fmt::format("unknown instruction '{}'", spelled(instruction)), span);
    std::string near = nearest_form(instruction);
    if (!near.empty()) error.notes.push_back(fmt::format("the nearest known form is '{}'", near));
    return error;
  }
  Nearest best;
  const IsaRow* best_row = nullptr;
  const uint32_t version = module.version_major * 10 + module.version_minor;
  const std::string target = module.target.empty() ? "" : module.target[0];
  for (const IsaRow* pointer : rows) {
    const IsaRow& row = *pointer;
    if (!modifiers_match(row.modifiers, instruction.modifiers)) {
      Nearest candidate = nearest_variant(row.modifiers, instruction.modifiers);
      if (auto ordered = match_reordered(row, instruction.modifiers, false)) {
        candidate = {1, ""}; // only the order is wrong
        for (const std::string& word : *ordered) candidate.text += word;
      }
      if (candidate.distance < best.distance) {
        best = std::move(candidate);
        best_row = &row;
      }
      continue;
    }
    bool operands = operands_match(row.operands, instruction.modifiers, instruction.operands);
    if (best.distance == 0 && !operands) continue;
    best = {0, ""};
    best_row = &row;
    if (operands) break;
  }
  if (best.distance != 0) {
    Error error = usage_error(
        fmt::format("'{}' has no form '{}'", instruction.opcode, spelled(instruction)), span);
    error.notes.push_back(
        fmt::format("the nearest known form is '{}{}'", instruction.opcode, best.text));
    return error;
  }
  if (!operands_match(best_row->operands, instruction.modifiers, instruction.operands)) {
    Error error = usage_error(fmt::format("wrong operands for '{}'", spelled(instruction)), span);
    error.notes.push_back(fmt::format("its operands are: {}", best_row->operands));
    return error;
  }
  Availability why = availability(*best_row, instruction.modifiers, version, target);
  if (why.withdrawn)
    return usage_error(fmt::format("'{}' ended with PTX ISA {}, the module says {}",
                                   spelled(instruction), version_text(why.requirement.version),
                                   module.version),
                       span);
  std::string what =
      why.requirement.word.empty() ? spelled(instruction) : std::string(why.requirement.word);
  return usage_error(fmt::format("'{}' needs PTX ISA {} and a target of sm_[{}]; the module says "
                                 "{} and {}",
                                 what, version_text(why.requirement.version), why.requirement.sm,
                                 module.version, target),
                     span);
}

} // namespace assay::ptx
