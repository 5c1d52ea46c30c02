// Examples of isa.def rows. Operand patterns are read as in pattern.cpp, but as a producer: every
// optional part and alternative consumes one digit of the choice number.
#include "ptx/generate.hpp"

#include "base/check.hpp"

#include <charconv>
#include <fmt/format.h>

namespace assay::ptx {
namespace {

std::string_view register_prefix(Type type) {
  switch (type) {
  case Type::pred: return "%p";
  case Type::f32: return "%f";
  case Type::f64: return "%d";
  default: break;
  }
  switch (bits(type)) {
  case 8:
  case 16: return "%h";
  case 64: return "%l";
  case 128: return "%q";
  default: return "%r";
  }
}

class Producer {
public:
  Producer(const IsaRow& row, const std::vector<std::string>& modifiers, uint64_t choice)
      : row_(row), choice_(choice) {
    for (const std::string& modifier : modifiers) {
      Type type = type_from(modifier);
      if (type != Type::none) {
        first_ = first_ == Type::none ? type : first_;
        last_ = type;
      }
      if (modifier == ".v2" || modifier == ".v4" || modifier == ".v8")
        vector_ = uint32_t(modifier[2] - '0');
      has_hint_ |= modifier == ".L2::cache_hint";
      is_param_ |= modifier.starts_with(".param");
      if (modifier.starts_with(".m64n")) shape_ = modifier;
      if (modifier == ".1d") geometry_ = 1;
      if (modifier == ".3d" || modifier == ".a2d" || modifier == ".cube" || modifier == ".acube")
        geometry_ = 4;
    }
  }

  std::vector<std::string> operands(std::string_view& p) { return sequence(p, true); }
  uint64_t choices() const { return choices_; }

private:
  uint64_t pick(uint64_t n) {
    choices_ *= n;
    uint64_t digit = choice_ % n;
    choice_ /= n;
    return digit;
  }

  // Items up to a closing bracket; `live` is false for parts that are not chosen.
  std::vector<std::string> sequence(std::string_view& p, bool live) {
    std::vector<std::string> out;
    while (!p.empty() && p[0] != '/' && p[0] != '}' && p[0] != ')') {
      if (p[0] == ',' || p[0] == ' ') {
        p.remove_prefix(1);
      } else if (p[0] == '{') {
        bool is_policy = p.starts_with("{, policy");
        p.remove_prefix(1);
        bool take = live && (is_policy ? has_hint_ : pick(2) == 1);
        append(out, sequence(p, take), take);
        p.remove_prefix(1);
      } else if (p[0] == '(') {
        p.remove_prefix(1);
        uint64_t chosen = live ? pick(count_alternatives(p)) : UINT64_MAX;
        for (uint64_t i = 0;; ++i) {
          append(out, sequence(p, live && i == chosen), i == chosen);
          char end = p[0];
          p.remove_prefix(1);
          if (end == ')') break;
        }
      } else {
        std::string text = item(p, live);
        if (live) out.push_back(std::move(text));
      }
    }
    return out;
  }

  static void append(std::vector<std::string>& out, std::vector<std::string> more, bool take) {
    if (take)
      for (std::string& text : more) out.push_back(std::move(text));
  }

  static uint64_t count_alternatives(std::string_view p) {
    uint64_t n = 1;
    for (int depth = 0; char c : p) {
      if (c == '(' || c == '{') ++depth;
      if ((c == ')' || c == '}') && depth-- == 0) break;
      n += c == '/' && depth == 0;
    }
    return n;
  }

  std::string item(std::string_view& p, bool live) {
    if (p[0] == '[') {
      size_t end = p.find(']');
      CHECK(end != p.npos);
      std::string_view inner = p.substr(1, end - 1);
      p.remove_prefix(end + 1);
      return live ? address(inner) : std::string();
    }
    if (p[0] == '<') {
      size_t end = p.find('>');
      CHECK(end != p.npos);
      std::string_view inner = p.substr(1, end - 1);
      p.remove_prefix(end + 1);
      return live ? vector(inner) : std::string();
    }
    size_t n = 0;
    while (n < p.size() && std::string_view(",/{}()| ").find(p[n]) == std::string_view::npos) ++n;
    std::string text = live ? scalar(p.substr(0, n)) : std::string();
    p.remove_prefix(n);
    bool optional_pair = p.starts_with("{|");
    if (optional_pair || p.starts_with("|")) {
      size_t end = p.find_first_of(optional_pair ? "}" : ",");
      if (live && (!optional_pair || pick(2))) text += fmt::format("|%p{}", next_++ % 8);
      p.remove_prefix(std::min(optional_pair ? end + 1 : end, p.size()));
    }
    return text;
  }

  std::string address(std::string_view inner) {
    if (is_param_) return row_.opcode == "st" ? "[a0]" : "[k0]";
    size_t comma = std::min(inner.find(','), inner.size());
    bool is_tensor_memory = row_.opcode == "tcgen05" && inner.substr(0, comma) != "mbar" &&
                            !row_.modifiers.starts_with(".alloc");
    std::string text = fmt::format("[%{}{}", is_tensor_memory ? "r" : "l", next_++ % 8);
    std::string_view rest = inner.substr(comma);
    for (const std::string& part : sequence(rest, true)) text += ", " + part;
    return text + "]";
  }

  std::string vector(std::string_view inner) {
    size_t star = inner.find('*');
    std::string_view element = inner.substr(0, star);
    uint32_t count = star == inner.npos ? vector_ : 0;
    if (star != inner.npos && inner.substr(star + 1) != "?")
      std::from_chars(inner.data() + star + 1, inner.data() + inner.size(), count);
    if (star == inner.npos && count == 1) return scalar(element);
    if (count == 0) count = open_count();
    std::string text = "{";
    for (uint32_t i = 0; i < count; ++i) text += (i ? ", " : "") + scalar(element);
    return text + "}";
  }

  // Vectors of any size: what the spelling asks for. Accumulators of wgmma have N/2 registers of 32
  // bits (N/4 for f16); "mov" splits its register in two; coordinates follow the geometry.
  uint32_t open_count() const {
    size_t n = shape_.find('n');
    if (row_.opcode == "wgmma" && n != shape_.npos) {
      uint32_t columns = 0;
      std::from_chars(shape_.data() + n + 1, shape_.data() + shape_.size(), columns);
      return columns / (first_ == Type::f16 ? 4 : 2);
    }
    return geometry_;
  }

  std::string scalar(std::string_view item) {
    if (item.starts_with('!')) item.remove_prefix(1);
    size_t colon = item.find(':');
    std::string_view type_name = colon == item.npos ? std::string_view() : item.substr(colon + 1);
    size_t equals = type_name.find('=');
    if (type_name.starts_with("imm"))
      return equals == type_name.npos ? "0" : std::string(type_name.substr(equals + 1));
    if (type_name == "label") return row_.opcode == "brx" ? "T0" : "L0";
    if (type_name == "sym") return "f0";
    if (type_name == "list") return item[0] == 'r' ? "(r0)" : "(a0)";
    if (type_name == "sink") return "_";
    Type type = type_name.empty()                        ? last_
                : type_name == "1" || type_name == "any" ? first_
                                                         : type_from(type_name);
    if (type_name == "any" && row_.opcode == "wgmma" && first_ == Type::f16) type = Type::b32;
    uint32_t number = next_++ % (row_.opcode == "wgmma" ? 256 : 8);
    if (type_name == "b8") return fmt::format("%c{}", number);
    return fmt::format("{}{}", register_prefix(type), number);
  }

  const IsaRow& row_;
  uint64_t choice_;
  uint64_t choices_ = 1;
  uint32_t next_ = 1;
  uint32_t vector_ = 1;
  Type first_ = Type::none, last_ = Type::none;
  bool is_param_ = false;
  bool has_hint_ = false;
  uint32_t geometry_ = 2;
  std::string shape_;
};

} // namespace

uint64_t operand_choices(std::string_view pattern) {
  uint64_t n = 1;
  for (size_t i = 0; i < pattern.size(); ++i) n *= pattern[i] == '{' || pattern[i] == '/' ? 2 : 1;
  return n;
}

std::string example(const IsaRow& row, uint64_t modifiers, uint64_t operands) {
  std::vector<std::string> words = variant(row.modifiers, modifiers);
  std::string text(row.opcode);
  for (const std::string& word : words) text += word;
  if (row.opcode == "call") operands = 3; // f0 takes and returns one value
  Producer producer(row, words, operands);
  std::string_view pattern = row.operands;
  const char* separator = " ";
  for (const std::string& operand : producer.operands(pattern)) {
    text += separator + operand;
    separator = ", ";
  }
  return text + ";";
}

std::string example_module(const std::string& body, std::string_view version,
                           std::string_view target) {
  return fmt::format(R"(.version {}
.target {}
.address_size 64
.func (.param .b32 r) f0(.param .b32 a) {{ ret; }}
.visible .entry k(.param .align 16 .b8 k0[64])
{{
	.reg .pred %p<256>;
	.reg .b8 %c<8>;
	.reg .b16 %h<8>;
	.reg .b32 %r<256>;
	.reg .f32 %f<256>;
	.reg .f64 %d<8>;
	.reg .b64 %l<256>;
	.reg .b128 %q<8>;
	.param .b32 r0;
	.param .b32 a0;
L0:
T0: .branchtargets L0;
{}	ret;
}}
)",
                     version, target, body);
}

} // namespace assay::ptx
