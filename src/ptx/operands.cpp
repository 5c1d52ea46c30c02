// Operands: registers, constants, addresses, vectors, pairs, lists.
// Source: PTX ISA 9.0, chapter 6, and chapter 10 for the special registers.
#include "ptx/parser.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace assay::ptx {
namespace {

constexpr uint32_t kMaxDepth = 8; // of nested operands; PTX has [a, {b}]

// Sorted. Numbered families (%envreg0…, %pm0…) are checked by prefix.
constexpr std::array<std::string_view, 37> kSpecial = {"%aggr_smem_size",
                                                       "%clock",
                                                       "%clock64",
                                                       "%clock_hi",
                                                       "%cluster_ctaid",
                                                       "%cluster_ctarank",
                                                       "%cluster_nctaid",
                                                       "%cluster_nctarank",
                                                       "%clusterid",
                                                       "%ctaid",
                                                       "%current_graph_exec",
                                                       "%dynamic_smem_size",
                                                       "%globaltimer",
                                                       "%globaltimer_hi",
                                                       "%globaltimer_lo",
                                                       "%gridid",
                                                       "%is_explicit_cluster",
                                                       "%laneid",
                                                       "%lanemask_eq",
                                                       "%lanemask_ge",
                                                       "%lanemask_gt",
                                                       "%lanemask_le",
                                                       "%lanemask_lt",
                                                       "%nclusterid",
                                                       "%nctaid",
                                                       "%nsmid",
                                                       "%ntid",
                                                       "%nwarpid",
                                                       "%reserved_smem_offset_0",
                                                       "%reserved_smem_offset_1",
                                                       "%reserved_smem_offset_begin",
                                                       "%reserved_smem_offset_cap",
                                                       "%reserved_smem_offset_end",
                                                       "%smid",
                                                       "%tid",
                                                       "%total_smem_size",
                                                       "%warpid"};
static_assert(std::is_sorted(kSpecial.begin(), kSpecial.end()));

bool is_number(std::string_view text, unsigned limit) {
  if (text.empty() || text.size() > 2) return false;
  unsigned value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + unsigned(c - '0');
  }
  return value < limit;
}

bool is_special_register(std::string_view name) {
  if (std::binary_search(kSpecial.begin(), kSpecial.end(), name)) return true;
  if (name.starts_with("%envreg")) return is_number(name.substr(7), 32);
  if (name.starts_with("%pm")) {
    name.remove_prefix(3);
    if (name.ends_with("_64")) name.remove_suffix(3);
    return is_number(name, 8);
  }
  return false;
}

bool is_component(std::string_view word) {
  static constexpr std::string_view kComponents[] = {
      ".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
  return std::find(std::begin(kComponents), std::end(kComponents), word) != std::end(kComponents);
}

} // namespace

// What the name in `operand` refers to.
bool Parser::resolve_name(Operand& operand) {
  if (operand.name == "_") {
    operand.kind = Operand::Kind::sink;
    return true;
  }
  const Token token = lexer_.token();
  lexer_.advance();
  const Token& next = lexer_.token();
  bool component = next.kind == Token::Kind::dot && is_component(next.text);
  if (const Symbol* symbol = lookup(token.text)) {
    bool is_register = symbol->kind == SymbolKind::reg || symbol->kind == SymbolKind::predicate;
    operand.kind = is_register ? Operand::Kind::reg : Operand::Kind::symbol;
    if (is_register && component) {
      operand.selector = next.text;
      lexer_.advance();
    }
    const uint32_t element_bytes = symbol->element_bytes;
    if (!is_register && accept('[')) { // an element of an array
      int64_t index = 0;
      if (!parse_integer_constant(index) || !expect(']')) return false;
      operand.offset = int64_t(uint64_t(index) * element_bytes);
    }
    return true;
  }
  if (is_special_register(token.text)) {
    operand.kind = Operand::Kind::special;
    if (component) {
      operand.name += next.text;
      lexer_.advance();
    }
    return true;
  }
  if (token.text[0] == '%')
    return fail(token.position, fmt::format("register '{}' is declared nowhere", token.text));
  operand.kind = Operand::Kind::label;
  pending_labels_.push_back({token.text, token.position});
  return true;
}

bool Parser::parse_constant_operand(Operand& operand) {
  Constant constant;
  if (!parse_constant(constant)) return false;
  operand.bits = constant.bits;
  operand.is_unsigned = constant.kind == Constant::Kind::u64;
  operand.kind = constant.kind == Constant::Kind::f32   ? Operand::Kind::float32
                 : constant.kind == Constant::Kind::f64 ? Operand::Kind::float64
                                                        : Operand::Kind::integer;
  return true;
}

bool Parser::parse_name_operand(Operand& operand) {
  const Token token = lexer_.token();
  if (token.text == "WARP_SZ") return parse_constant_operand(operand);
  if (token.text == "_") {
    operand.kind = Operand::Kind::sink;
    lexer_.advance();
    return true;
  }
  operand.name = token.text;
  return resolve_name(operand);
}

bool Parser::parse_operand_list(std::vector<Operand>& out, char close, uint32_t depth) {
  lexer_.advance(); // the opening bracket
  if (accept(close)) return true;
  do {
    if (!parse_operand(out.emplace_back(), depth + 1)) return false;
  } while (accept(','));
  return expect(close);
}

// [base {+ offset} {, part}…]
bool Parser::parse_address(Operand& operand, uint32_t depth) {
  operand.kind = Operand::Kind::address;
  lexer_.advance(); // '['
  if (!parse_operand(operand.elements.emplace_back(), depth + 1)) return false;
  Operand& base = operand.elements[0];
  if (base.kind == Operand::Kind::symbol) { // the address carries the offset
    operand.offset = base.offset;
    base.offset = 0;
  }
  if (lexer_.token().is_punctuation('+') || lexer_.token().is_punctuation('-')) {
    int64_t offset = 0;
    if (!parse_integer_constant(offset)) return false;
    operand.offset = int64_t(uint64_t(operand.offset) + uint64_t(offset));
    operand.writes_offset = true;
  }
  while (accept(','))
    if (!parse_operand(operand.elements.emplace_back(), depth + 1)) return false;
  return expect(']');
}

bool Parser::parse_operand(Operand& operand, uint32_t depth) {
  const Token token = lexer_.token();
  operand.position = token.position;
  if (depth > kMaxDepth) return fail("operands nested too deep");
  if (token.kind == Token::Kind::name) {
    if (!parse_name_operand(operand)) return false;
  } else if (token.is_punctuation('[')) {
    if (!parse_address(operand, depth)) return false;
  } else if (token.is_punctuation('{')) {
    operand.kind = Operand::Kind::vector;
    if (!parse_operand_list(operand.elements, '}', depth)) return false;
  } else if (token.is_punctuation('!') || token.is_punctuation('-')) {
    Lexer after = lexer_;
    after.advance();
    if (after.token().kind == Token::Kind::name && after.token().text != "WARP_SZ") {
      lexer_ = after;
      if (!parse_name_operand(operand)) return false;
      operand.negated = true;
    } else if (!parse_constant_operand(operand)) {
      return false;
    }
  } else if (!parse_constant_operand(operand)) {
    return false;
  }
  if (operand.kind == Operand::Kind::symbol && depth == 0 && lexer_.token().is_punctuation('+')) {
    int64_t offset = 0;
    if (!parse_integer_constant(offset)) return false;
    operand.offset = int64_t(uint64_t(operand.offset) + uint64_t(offset));
  }
  if (lexer_.token().is_punctuation('|') && depth <= 1) {
    lexer_.advance();
    Operand pair;
    pair.kind = Operand::Kind::pair;
    pair.position = operand.position;
    pair.elements.push_back(std::move(operand));
    if (!parse_operand(pair.elements.emplace_back(), 2)) return false;
    operand = std::move(pair);
  }
  return true;
}

} // namespace assay::ptx
