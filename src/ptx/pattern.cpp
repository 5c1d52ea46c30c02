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

bool is_item_char(char c) { return is_word_char(c) || c == '-' || c == '*' || c == '?'; }

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
        p.remove_prefix(1);
        Mask inside = alternatives(p, at);
        CHECK(!p.empty());
        p.remove_prefix(1);
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
    switch (operand.kind) {
    case Kind::reg: return type != "imm" && type != "list" && type != "label";
    case Kind::integer: return type != "label" && type != "list";
    case Kind::label: return type == "label" || type == "sym";
    case Kind::list: return type == "list";
    case Kind::symbol: return type != "imm" && type != "list" && type != "pred";
    case Kind::vector: return type.starts_with("b") || type.starts_with("f") || type == "vec";
    case Kind::special: return type != "imm" && type != "list" && type != "pred";
    case Kind::float32:
    case Kind::float64: return type.empty() || type[0] == 'f' || type[0] == 'b';
    case Kind::sink: return type != "imm" && type != "label" && type != "list";
    case Kind::address:
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
