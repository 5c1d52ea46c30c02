// Declarations: spaces, qualifiers, types, array dimensions, initialisers.
// Source: PTX ISA 9.0, sections 5.1 to 5.5 and 11.6.
#include "ptx/parser.hpp"

#include <bit>
#include <cstring>
#include <fmt/format.h>

namespace assay::ptx {
namespace {

constexpr uint32_t kMaxDepth = 32;          // of nested initialisers
constexpr uint64_t kMaxElements = 1u << 28; // of one initialised array
constexpr uint64_t kMaxPadding = 1u << 22;  // elements that a module's initialisers leave out

Space declared_space(std::string_view word) {
  if (word == ".reg") return Space::reg;
  if (word == ".global") return Space::global;
  if (word == ".const") return Space::constant;
  if (word == ".shared") return Space::shared;
  if (word == ".local") return Space::local;
  if (word == ".param") return Space::param;
  if (word == ".sreg") return Space::sreg;
  if (word == ".tex") return Space::tex;
  return Space::none;
}

bool is_opaque(Type type) {
  return type == Type::texref || type == Type::samplerref || type == Type::surfref;
}

} // namespace

bool Parser::parse_attribute(std::string& out) {
  const size_t start = lexer_.token().offset;
  lexer_.advance();
  if (!expect('(')) return false;
  for (int depth = 1; depth > 0; lexer_.advance()) {
    if (lexer_.token().kind == Token::Kind::end) return unexpected("')'");
    depth += lexer_.token().is_punctuation('(') ? 1 : lexer_.token().is_punctuation(')') ? -1 : 0;
  }
  out = lexer_.text().substr(start, lexer_.previous_end() - start);
  return true;
}

bool Parser::parse_ptr(Variable& variable) {
  variable.ptr = true;
  lexer_.advance();
  const Token& token = lexer_.token();
  if (token.is(".global") || token.is(".shared") || token.is(".const") || token.is(".local") ||
      token.is(".param") || token.is(".shared::cta") || token.is(".shared::cluster") ||
      token.is(".param::entry")) {
    variable.ptr_space = token.text;
    lexer_.advance();
  }
  if (accept(".align")) {
    uint64_t align = 0;
    if (!unsigned_integer(align)) return false;
    variable.ptr_align = uint32_t(align);
  }
  return true;
}

// One of the dot-words between the space and the name; `done` when there is none.
bool Parser::parse_qualifier(Variable& variable, bool& done) {
  const Token& token = lexer_.token();
  done = token.kind != Token::Kind::dot;
  if (done) return true;
  if (token.text == ".align") {
    lexer_.advance();
    Position at = lexer_.token().position;
    uint64_t align = 0;
    if (!unsigned_integer(align)) return false;
    if (!std::has_single_bit(align) || align > 1u << 30)
      return fail(at, "an alignment is a power of two");
    variable.align = uint32_t(align);
    return true;
  }
  if (token.text == ".attribute") return parse_attribute(variable.attributes);
  if (token.text == ".ptr") return parse_ptr(variable);
  if (token.text == ".v2" || token.text == ".v4" || token.text == ".v8") {
    variable.vector = uint32_t(token.text[2] - '0');
    lexer_.advance();
    return true;
  }
  if (variable.type != Type::none) return unexpected("a name");
  variable.type = type_from(token.text);
  if (variable.type == Type::none) return unexpected("a type");
  lexer_.advance();
  return true;
}

bool Parser::parse_declaration_head(Variable& variable) {
  const Token& token = lexer_.token();
  variable.space = token.kind == Token::Kind::dot ? declared_space(token.text) : Space::none;
  if (variable.space == Space::none)
    return unexpected("a declaration or a directive that is known here");
  lexer_.advance();
  // Banks of constant memory (.const[3]) ended with PTX ISA 2.2.
  for (bool done = false; !done;)
    if (!parse_qualifier(variable, done)) return false;
  if (variable.type == Type::none) return unexpected("a type");
  return true;
}

bool Parser::parse_declarator(Variable& variable) {
  variable.position = lexer_.token().position;
  std::string_view spelled = lexer_.token().text;
  if (!name(variable.name, "a name")) return false;
  if (variable.space == Space::reg && accept('<')) {
    uint64_t range = 0;
    Position at = lexer_.token().position;
    const Token count = lexer_.token();
    int64_t value = 0;
    Constant constant;
    if (count.kind != Token::Kind::integer || !parse_literal(constant))
      return fail(at, "expected the number of registers");
    value = int64_t(constant.bits);
    range = uint64_t(value);
    if (value <= 0 || range > 1u << 24) return fail(at, "absurd number of registers");
    variable.register_range = uint32_t(range);
    if (!expect('>')) return false;
  }
  while (accept('[')) {
    variable.is_array = true;
    uint64_t size = 0;
    if (!lexer_.token().is_punctuation(']') && !unsigned_integer(size)) return false;
    if (size > 1ull << 40) return fail("absurd array dimension");
    variable.dims.push_back(size);
    if (variable.dims.size() > 8) return fail("too many array dimensions");
    if (!expect(']')) return false;
  }
  SymbolKind kind = variable.space != Space::reg  ? SymbolKind::variable
                    : variable.type == Type::pred ? SymbolKind::predicate
                                                  : SymbolKind::reg;
  if (spelled != "_")
    define(spelled, {kind, variable.register_range, bits(variable.type) / 8 * variable.vector});
  return true;
}

bool Parser::parse_variables(const std::string& linkage, std::vector<Variable>& out) {
  Variable head;
  head.linkage = linkage;
  if (!parse_declaration_head(head)) return false;
  do {
    Variable variable = head;
    if (!parse_declarator(variable)) return false;
    if (accept('=') && !parse_initialiser(variable)) return false;
    out.push_back(std::move(variable));
  } while (accept(','));
  return expect(';');
}

bool Parser::parse_initialiser(Variable& variable) {
  variable.has_init = true;
  if (is_opaque(variable.type)) {
    if (!lexer_.token().is_punctuation('{')) return unexpected("'{'");
    variable.init_text = lexer_.take_braces();
    return !variable.init_text.empty() || unexpected("'}'");
  }
  if (!lexer_.token().is_punctuation('{')) return parse_initialiser_value(variable);
  if (!parse_initialiser_list(variable, 0, 0)) return false;
  // An open first dimension takes its size from the list.
  if (!variable.dims.empty() && variable.dims[0] == 0) {
    uint64_t inner = variable.vector;
    for (size_t i = 1; i < variable.dims.size(); ++i) inner *= variable.dims[i];
    variable.dims[0] = inner ? (variable.init.size() + inner - 1) / inner : 0;
  }
  return true;
}

// One brace level: the elements of dimension `dim`, padded with zeros when another element of
// the enclosing level follows.
bool Parser::parse_initialiser_list(Variable& variable, size_t dim, uint32_t depth) {
  if (depth > kMaxDepth) return fail("initialiser nested too deep");
  if (!expect('{')) return false;
  uint64_t inner = variable.vector; // scalars in one element of this level
  for (size_t i = dim + 1; i < variable.dims.size(); ++i) {
    inner *= variable.dims[i];
    if (inner > kMaxElements) return fail("initialiser too large");
  }
  if (dim >= variable.dims.size()) inner = 1;
  while (!lexer_.token().is_punctuation('}')) {
    size_t start = variable.init.size();
    if (lexer_.token().is_punctuation('{')) {
      if (!parse_initialiser_list(variable, dim + 1, depth + 1)) return false;
      size_t filled = variable.init.size() - start;
      if (filled > inner) return fail("too many elements in an initialiser");
      if (lexer_.token().is_punctuation(',')) {
        padding_ += inner - filled; // a short text must not become a table of any size
        if (padding_ > kMaxPadding) return fail("initialiser with too many zeros left out");
        variable.init.resize(start + inner);
      }
    } else if (!parse_initialiser_value(variable)) {
      return false;
    }
    if (variable.init.size() > kMaxElements) return fail("initialiser too large");
    if (!accept(',')) break;
  }
  return expect('}');
}

// number | symbol{+offset} | generic(symbol{+offset}) | mask(symbol{+offset})
bool Parser::parse_initialiser_value(Variable& variable) {
  Variable::Init init;
  auto address = [&]() {
    init.is_symbol = true;
    if (accept("generic")) {
      init.generic = true;
      if (!expect('(') || !name(init.symbol, "a symbol") || !expect(')')) return false;
    } else if (!name(init.symbol, "a symbol")) {
      return false;
    }
    if (lexer_.token().is_punctuation('+') || lexer_.token().is_punctuation('-'))
      return parse_integer_constant(init.addend);
    return true;
  };
  const Token token = lexer_.token();
  if (token.kind == Token::Kind::name && token.text != "WARP_SZ") {
    if (!address()) return false;
  } else {
    Constant constant;
    if (!parse_constant(constant)) return false;
    if (accept('(')) { // a byte of an address: 0xFF00(symbol)
      init.mask = constant.bits;
      if (!address() || !expect(')')) return false;
    } else {
      init.bits = constant.bits;
      bool is_real = constant.kind == Constant::Kind::f64 || constant.kind == Constant::Kind::f32;
      double real = constant.kind == Constant::Kind::f32
                        ? double(std::bit_cast<float>(uint32_t(constant.bits)))
                        : std::bit_cast<double>(constant.bits);
      if (!is_real)
        real = constant.kind == Constant::Kind::u64 ? double(constant.bits)
                                                    : double(int64_t(constant.bits));
      if (variable.type == Type::f32 && constant.kind != Constant::Kind::f32)
        init.bits = std::bit_cast<uint32_t>(float(real));
      else if (variable.type == Type::f64 && constant.kind != Constant::Kind::f64)
        init.bits = std::bit_cast<uint64_t>(real);
      else if (!is_float(variable.type) && is_real)
        return fail(token.position, "a floating-point value for an integer variable");
      uint32_t width = bits(variable.type);
      if (width < 64) init.bits &= (1ull << width) - 1;
    }
  }
  variable.init.push_back(std::move(init));
  return true;
}

} // namespace assay::ptx
