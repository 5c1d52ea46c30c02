// Matching of isa.def patterns. A pattern is read from left to right as a nondeterministic
// automaton whose states are positions in the modifier (or operand) list, kept as a bit mask: no
// backtracking, no compiled form. Lists longer than 31 never match.
#include "base/check.hpp"
#include "ptx/isa.hpp"

#include <charconv>

namespace assay::ptx {
namespace {

using Mask = uint32_t;

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

// Takes ".word" or "NAME" off the front.
std::string_view take_word(std::string_view& p) {
  size_t n = 1;
  while (n < p.size() && is_word_char(p[n])) ++n;
  std::string_view word = p.substr(0, n);
  p.remove_prefix(n);
  return word;
}

class ModifierMatcher {
public:
  explicit ModifierMatcher(std::span<const std::string> mods) : mods_(mods) {}

  // Alternatives up to the closing bracket or the end.
  Mask alternatives(std::string_view& p, Mask from) {
    Mask result = 0;
    while (true) {
      result |= sequence(p, from);
      if (p.empty() || p[0] != '|') return result;
      p.remove_prefix(1);
    }
  }

private:
  Mask sequence(std::string_view& p, Mask at) {
    while (!p.empty() && p[0] != '|' && p[0] != '}' && p[0] != ')') {
      if (p[0] == '{' || p[0] == '(') {
        bool optional = p[0] == '{';
        p.remove_prefix(1);
        Mask inside = alternatives(p, at);
        CHECK(!p.empty());
        p.remove_prefix(1);
        at = optional ? at | inside : inside;
      } else if (p[0] == '.') {
        at = literal(take_word(p), at);
      } else {
        std::string_view set = isa_set(take_word(p));
        CHECK(!set.empty());
        at = alternatives(set, at);
      }
    }
    return at;
  }

  Mask literal(std::string_view word, Mask at) const {
    Mask next = 0;
    for (size_t i = 0; i < mods_.size(); ++i)
      if ((at >> i & 1) && mods_[i] == word) next |= Mask(2) << i;
    return next;
  }

  std::span<const std::string> mods_;
};

// Modifiers in any order: a state is the set of modifiers used so far and the order in which the
// pattern took them. Types must be taken in their source order, and so must the leading words that
// are part of the opcode's name.
class ReorderingMatcher {
public:
  struct State {
    Mask used = 0;
    std::vector<uint8_t> order;
  };
  using States = std::vector<State>;

  ReorderingMatcher(std::span<const std::string> mods, size_t fixed) : mods_(mods), fixed_(fixed) {}

  States alternatives(std::string_view& p, const States& from) {
    States result;
    while (true) {
      merge(result, sequence(p, from));
      if (p.empty() || p[0] != '|') return result;
      p.remove_prefix(1);
    }
  }

private:
  static void merge(States& into, States more) {
    for (State& state : more) {
      bool known = false;
      for (const State& other : into) known |= other.used == state.used;
      if (!known) into.push_back(std::move(state));
    }
  }

  States sequence(std::string_view& p, States at) {
    while (!p.empty() && p[0] != '|' && p[0] != '}' && p[0] != ')') {
      if (p[0] == '{' || p[0] == '(') {
        bool optional = p[0] == '{';
        p.remove_prefix(1);
        States inside = alternatives(p, at);
        CHECK(!p.empty());
        p.remove_prefix(1);
        if (optional) merge(inside, std::move(at));
        at = std::move(inside);
      } else if (p[0] == '.') {
        at = literal(take_word(p), at);
      } else {
        std::string_view set = isa_set(take_word(p));
        CHECK(!set.empty());
        at = alternatives(set, at);
      }
    }
    return at;
  }

  bool is_ordered(size_t i) const { return i < fixed_ || type_from(mods_[i]) != Type::none; }

  // Whether modifier i is the next of those that keep their order. Words of the name come first.
  bool may_take(const State& state, size_t i) const {
    if (state.used >> i & 1) return false;
    for (size_t j = 0; j < i; ++j)
      if (!(state.used >> j & 1) && (j < fixed_ || (is_ordered(i) && is_ordered(j)))) return false;
    return true;
  }

  States literal(std::string_view word, const States& at) const {
    States next;
    for (const State& state : at)
      for (size_t i = 0; i < mods_.size(); ++i)
        if (mods_[i] == word && may_take(state, i)) {
          State taken = state;
          taken.used |= Mask(1) << i;
          taken.order.push_back(uint8_t(i));
          next.push_back(std::move(taken));
          break;
        }
    return next;
  }

  std::span<const std::string> mods_;
  size_t fixed_;
};

// How many leading words are part of the name: ptxas knows "mul.wide" and "cp.async.bulk" as names.
size_t name_words(std::string_view opcode, std::span<const std::string> mods) {
  static constexpr std::string_view kNamed[] = {"mul",
                                                "mad",
                                                "madc",
                                                "mul24",
                                                "mad24",
                                                "cp",
                                                "mbarrier",
                                                "wgmma",
                                                "wmma",
                                                "tcgen05",
                                                "multimem",
                                                "tensormap",
                                                "clusterlaunchcontrol",
                                                "createpolicy"};
  bool named = false;
  for (std::string_view name : kNamed) named |= name == opcode;
  if (!named || mods.empty()) return 0;
  size_t n = 1;
  static constexpr std::string_view kFurther[] = {".async",  ".bulk",      ".tensor", ".prefetch",
                                                  ".parity", ".expect_tx", ".tile"};
  for (bool further = true; further && n < mods.size(); n += further) {
    further = false;
    for (std::string_view word : kFurther) further |= word == mods[n];
  }
  return n;
}

bool is_item_char(char c) {
  return is_word_char(c) || c == '-' || c == '*' || c == '?' || c == '=';
}

class OperandMatcher {
public:
  OperandMatcher(std::span<const std::string> mods, std::span<const Operand> operands)
      : mods_(mods), operands_(operands) {}

  Mask alternatives(std::string_view& p, Mask from) {
    Mask result = 0;
    while (true) {
      result |= sequence(p, from);
      if (p.empty() || p[0] != '/') return result;
      p.remove_prefix(1);
    }
  }

private:
  Mask sequence(std::string_view& p, Mask at) {
    while (!p.empty() && p[0] != '/' && p[0] != '}' && p[0] != ')') {
      if (p[0] == ',' || p[0] == ' ') {
        p.remove_prefix(1);
      } else if (p[0] == '{' || p[0] == '(') {
        bool optional = p[0] == '{';
        bool is_policy = p.starts_with("{, policy");
        p.remove_prefix(1);
        Mask inside = alternatives(p, at);
        CHECK(!p.empty());
        p.remove_prefix(1);
        if (is_policy)
          at = has_hint() ? inside : at;
        else
          at = optional ? at | inside : inside;
      } else {
        std::string_view item = take_item(p);
        Mask next = 0;
        for (size_t i = 0; i < operands_.size(); ++i)
          if ((at >> i & 1) && accepts(item, operands_[i])) next |= Mask(2) << i;
        at = next;
      }
    }
    return at;
  }

  bool has_hint() const {
    for (const std::string& mod : mods_)
      if (mod == ".L2::cache_hint") return true;
    return false;
  }

  static std::string_view take_item(std::string_view& p) {
    size_t n = 0;
    if (p[0] == '[' || p[0] == '<') {
      char close = p[0] == '[' ? ']' : '>';
      n = p.find(close);
      CHECK(n != p.npos);
      ++n;
    } else {
      while (n < p.size() && (is_item_char(p[n]) || p[n] == '!')) ++n;
      if (n < p.size() && p[n] == '|')
        for (++n; n < p.size() && is_item_char(p[n]);) ++n;
      else if (p.substr(n).starts_with("{|"))
        n = p.find('}', n) + 1;
      CHECK(n > 0);
    }
    std::string_view item = p.substr(0, n);
    p.remove_prefix(n);
    return item;
  }

  bool accepts(std::string_view item, const Operand& operand) const {
    using Kind = Operand::Kind;
    if (item[0] == '[') {
      if (operand.kind != Kind::address) return false;
      std::string_view inner = item.substr(1, item.size() - 2);
      return operands_match(inner, mods_, operand.elements);
    }
    if (item[0] == '<') return accepts_vector(item.substr(1, item.size() - 2), operand);
    size_t bar = item.find('|');
    if (bar != item.npos) {
      if (operand.kind == Kind::pair) return true;
      return item[bar - 1] == '{' && scalar(item.substr(0, bar - 1), operand);
    }
    return scalar(item, operand);
  }

  bool accepts_vector(std::string_view item, const Operand& operand) const {
    size_t star = item.find('*');
    std::string_view count = star == item.npos ? std::string_view() : item.substr(star + 1);
    std::string_view element = item.substr(0, star);
    if (count == "?") return operand.kind == Operand::Kind::vector || scalar(element, operand);
    uint32_t wanted = 1;
    if (star != item.npos)
      std::from_chars(count.data(), count.data() + count.size(), wanted);
    else
      for (const std::string& mod : mods_)
        if (mod == ".v2" || mod == ".v4" || mod == ".v8") wanted = uint32_t(mod[2] - '0');
    if (operand.kind == Operand::Kind::vector) return operand.elements.size() == wanted;
    // A bare vector register (%v4) stands for all of its elements.
    return scalar(element, operand) && (wanted == 1 || operand.kind == Operand::Kind::reg ||
                                        operand.kind == Operand::Kind::special);
  }

  static bool scalar(std::string_view item, const Operand& operand) {
    using Kind = Operand::Kind;
    bool may_negate = item[0] == '!';
    if (operand.negated && !may_negate) return false;
    size_t colon = item.find(':');
    std::string_view type = colon == item.npos ? std::string_view() : item.substr(colon + 1);
    type = type.substr(0, type.find('='));
    switch (operand.kind) {
    case Kind::reg: return type != "imm" && type != "list" && type != "label";
    case Kind::integer: return type != "label" && type != "list";
    case Kind::label: return type == "label" || type == "sym";
    case Kind::list: return type == "list";
    case Kind::symbol: return type != "imm" && type != "list" && type != "pred";
    case Kind::special: return type != "imm" && type != "list" && type != "pred";
    case Kind::float32:
    case Kind::float64: return type.empty() || type[0] == 'f' || type[0] == 'b';
    case Kind::sink: return type != "imm" && type != "label" && type != "list";
    case Kind::address:
    case Kind::vector:
    case Kind::pair: return false;
    }
    return false;
  }

  std::span<const std::string> mods_;
  std::span<const Operand> operands_;
};

// Counting and enumeration: the same grammar, read as sums and products.
class Enumerator {
public:
  uint64_t alternatives(std::string_view& p) {
    uint64_t sum = 0;
    while (true) {
      sum += sequence(p);
      if (p.empty() || p[0] != '|') return sum;
      p.remove_prefix(1);
    }
  }

  uint64_t sequence(std::string_view& p) {
    uint64_t product = 1;
    while (!p.empty() && p[0] != '|' && p[0] != '}' && p[0] != ')') product *= element(p);
    return product;
  }

  uint64_t element(std::string_view& p) {
    if (p[0] == '{' || p[0] == '(') {
      bool optional = p[0] == '{';
      p.remove_prefix(1);
      uint64_t n = alternatives(p) + optional;
      p.remove_prefix(1);
      return n;
    }
    std::string_view word = take_word(p);
    if (word[0] == '.') return 1;
    std::string_view set = isa_set(word);
    return alternatives(set);
  }

  void pick_alternative(std::string_view& p, uint64_t index, std::vector<std::string>& out) {
    while (true) {
      std::string_view start = p;
      uint64_t n = sequence(p);
      if (index < n) pick_sequence(start, index, out);
      index = index < n ? UINT64_MAX : index - n;
      if (p.empty() || p[0] != '|') return;
      p.remove_prefix(1);
    }
  }

private:
  void pick_sequence(std::string_view& p, uint64_t index, std::vector<std::string>& out) {
    while (!p.empty() && p[0] != '|' && p[0] != '}' && p[0] != ')') {
      std::string_view start = p;
      uint64_t n = element(p);
      pick_element(start, index % n, out);
      index /= n;
    }
  }

  void pick_element(std::string_view p, uint64_t index, std::vector<std::string>& out) {
    if (p[0] == '{') {
      if (index == 0) return;
      --index;
    }
    if (p[0] == '{' || p[0] == '(') {
      p.remove_prefix(1);
      pick_alternative(p, index, out);
      return;
    }
    std::string_view word = take_word(p);
    if (word[0] == '.') {
      out.emplace_back(word);
      return;
    }
    std::string_view set = isa_set(word);
    pick_alternative(set, index, out);
  }
};

} // namespace

bool modifiers_match(std::string_view pattern, std::span<const std::string> modifiers) {
  if (modifiers.size() > 30) return false;
  Mask end = ModifierMatcher(modifiers).alternatives(pattern, 1);
  return end >> modifiers.size() & 1;
}

std::optional<std::vector<std::string>>
match_reordered(const IsaRow& row, std::span<const std::string> modifiers, bool whole_name) {
  if (modifiers.size() > 30) return std::nullopt;
  ReorderingMatcher matcher(modifiers, whole_name ? name_words(row.opcode, modifiers) : 0);
  std::string_view pattern = row.modifiers;
  const Mask all = (Mask(1) << modifiers.size()) - 1;
  for (const auto& state : matcher.alternatives(pattern, {{}})) {
    if (state.used != all) continue;
    std::vector<std::string> ordered;
    for (uint8_t i : state.order) ordered.push_back(modifiers[i]);
    return ordered;
  }
  return std::nullopt;
}

bool operands_match(std::string_view pattern, std::span<const std::string> modifiers,
                    std::span<const Operand> operands) {
  if (operands.size() > 30) return false;
  Mask end = OperandMatcher(modifiers, operands).alternatives(pattern, 1);
  return end >> operands.size() & 1;
}

uint64_t variant_count(std::string_view pattern) { return Enumerator().alternatives(pattern); }

std::vector<std::string> variant(std::string_view pattern, uint64_t index) {
  std::vector<std::string> out;
  Enumerator().pick_alternative(pattern, index, out);
  return out;
}

} // namespace assay::ptx
