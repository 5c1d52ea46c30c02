// Constant expressions: 64-bit integers, signed unless a U or the magnitude says otherwise, and
// doubles; evaluated as they are read. Source: PTX ISA 9.0, section 4.5.
#include "ptx/parser.hpp"

#include <bit>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

namespace assay::ptx {
namespace {

constexpr uint32_t kMaxDepth = 64;

struct Operator {
  std::string_view spelling;
  int level; // higher binds tighter
};
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                                   {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                                   {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};

bool is_real(const Constant& c) {
  return c.kind == Constant::Kind::f64 || c.kind == Constant::Kind::f32;
}

double real_of(const Constant& c) {
  switch (c.kind) {
  case Constant::Kind::f64: return std::bit_cast<double>(c.bits);
  case Constant::Kind::f32: return std::bit_cast<float>(uint32_t(c.bits));
  case Constant::Kind::u64: return double(c.bits);
  case Constant::Kind::s64: return double(int64_t(c.bits));
  }
  return 0;
}

Constant truth(bool value) { return {Constant::Kind::s64, value}; }

bool apply_real(std::string_view op, double a, double b, Constant& out) {
  double value = 0;
  if (op == "+")
    value = a + b;
  else if (op == "-")
    value = a - b;
  else if (op == "*")
    value = a * b;
  else if (op == "/")
    value = a / b;
  else if (op == "==")
    return out = truth(a == b), true;
  else if (op == "!=")
    return out = truth(a != b), true;
  else if (op == "<")
    return out = truth(a < b), true;
  else if (op == ">")
    return out = truth(a > b), true;
  else if (op == "<=")
    return out = truth(a <= b), true;
  else if (op == ">=")
    return out = truth(a >= b), true;
  else
    return false;
  out = {Constant::Kind::f64, std::bit_cast<uint64_t>(value)};
  return true;
}

uint64_t divide(uint64_t a, uint64_t b, bool is_signed, bool remainder) {
  if (!is_signed) return remainder ? a % b : a / b;
  if (int64_t(b) == -1) // the one quotient that overflows wraps
    return remainder ? 0 : 0 - a;
  return uint64_t(remainder ? int64_t(a) % int64_t(b) : int64_t(a) / int64_t(b));
}

// False for a division by zero.
bool apply_integer(std::string_view op, const Constant& left, const Constant& right,
                   Constant& out) {
  const uint64_t a = left.bits, b = right.bits;
  const bool is_signed = left.kind == Constant::Kind::s64 && right.kind == Constant::Kind::s64;
  auto less = [&](uint64_t x, uint64_t y) { return is_signed ? int64_t(x) < int64_t(y) : x < y; };
  uint64_t value = 0;
  if (op == "+")
    value = a + b;
  else if (op == "-")
    value = a - b;
  else if (op == "*")
    value = a * b;
  else if (op == "&")
    value = a & b;
  else if (op == "|")
    value = a | b;
  else if (op == "^")
    value = a ^ b;
  else if (op == "<<")
    value = b > 63 ? 0 : a << b;
  else if (op == ">>" && left.kind == Constant::Kind::s64)
    value = uint64_t(int64_t(a) >> (b > 63 ? 63 : b));
  else if (op == ">>")
    value = b > 63 ? 0 : a >> b;
  else if (op == "/" || op == "%") {
    if (b == 0) return false;
    value = divide(a, b, is_signed, op == "%");
  } else {
    bool t = op == "&&"   ? a && b
             : op == "||" ? a || b
             : op == "==" ? a == b
             : op == "!=" ? a != b
             : op == "<"  ? less(a, b)
             : op == ">"  ? less(b, a)
             : op == "<=" ? !less(b, a)
                          : !less(a, b);
    out = truth(t);
    return true;
  }
  out = {is_signed ? Constant::Kind::s64 : Constant::Kind::u64, value};
  return true;
}

} // namespace

bool Parser::parse_literal(Constant& out) {
  const Token token = lexer_.token();
  std::string_view text = token.text;
  if (token.kind == Token::Kind::real) {
    if (text.size() > 2 && text[0] == '0' &&
        (text[1] == 'f' || text[1] == 'F' || text[1] == 'd' || text[1] == 'D')) {
      bool single = text[1] == 'f' || text[1] == 'F';
      auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), out.bits, 16);
      if (error != std::errc() || text.size() > (single ? 10u : 18u))
        return fail(token.position, fmt::format("malformed floating-point constant '{}'", text));
      out.kind = single ? Constant::Kind::f32 : Constant::Kind::f64;
    } else {
      double value = 0;
      std::from_chars(text.data(), text.data() + text.size(), value);
      out = {Constant::Kind::f64, std::bit_cast<uint64_t>(value)};
    }
    lexer_.advance();
    return true;
  }
  if (token.kind != Token::Kind::integer) return unexpected("a constant");
  bool is_unsigned = text.back() == 'U';
  if (is_unsigned) text.remove_suffix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    base = text[1] == 'x' || text[1] == 'X' ? 16 : text[1] == 'b' || text[1] == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(token.position, fmt::format("malformed integer constant '{}'", token.text));
  out = {is_unsigned || value >> 63 ? Constant::Kind::u64 : Constant::Kind::s64, value};
  lexer_.advance();
  return true;
}

bool Parser::parse_unary(Constant& out, uint32_t depth) {
  if (depth > kMaxDepth) return fail("constant expression nested too deep");
  const Token token = lexer_.token();
  if (token.is("WARP_SZ")) {
    lexer_.advance();
    out = {Constant::Kind::u64, 32};
    return true;
  }
  if (accept('(')) {
    if (lexer_.token().is(".s64") || lexer_.token().is(".u64")) { // a cast
      bool is_signed = lexer_.token().text == ".s64";
      lexer_.advance();
      if (!expect(')') || !parse_unary(out, depth + 1)) return false;
      out.kind = is_signed ? Constant::Kind::s64 : Constant::Kind::u64;
      return true;
    }
    return parse_binary(out, 0, depth + 1) && expect(')');
  }
  for (char op : {'-', '+', '!', '~'}) {
    if (!accept(op)) continue;
    if (!parse_unary(out, depth + 1)) return false;
    if (op == '-' && is_real(out))
      out.bits ^= out.kind == Constant::Kind::f32 ? 0x80000000ull : 1ull << 63;
    else if (op == '-')
      out = {Constant::Kind::s64, 0 - out.bits};
    else if (op == '!')
      out = truth(out.bits == 0);
    else if (op == '~')
      out.bits = ~out.bits;
    return true;
  }
  return parse_literal(out);
}

bool Parser::parse_binary(Constant& out, int level, uint32_t depth) {
  if (depth > kMaxDepth) return fail("constant expression nested too deep");
  if (!parse_unary(out, depth + 1)) return false;
  while (true) {
    const Token token = lexer_.token();
    const Operator* found = nullptr;
    if (token.kind == Token::Kind::punctuation)
      for (const Operator& op : kOperators)
        if (op.spelling == token.text && op.level > level) found = &op;
    if (!found) break;
    lexer_.advance();
    Constant right, left = out;
    if (!parse_binary(right, found->level, depth + 1)) return false;
    bool real = is_real(left) || is_real(right);
    bool ok = real ? apply_real(found->spelling, real_of(left), real_of(right), out)
                   : apply_integer(found->spelling, left, right, out);
    if (!ok)
      return fail(token.position,
                  fmt::format("'{}' cannot be applied in a constant expression", token.text));
  }
  if (level == 0 && accept('?')) {
    Constant yes, no;
    if (!parse_binary(yes, 0, depth + 1) || !expect(':') || !parse_binary(no, 0, depth + 1))
      return false;
    out = out.bits ? yes : no;
  }
  return true;
}

bool Parser::parse_constant(Constant& out) { return parse_binary(out, 0, 0); }

bool Parser::parse_integer_constant(int64_t& out) {
  Position at = lexer_.token().position;
  Constant constant;
  if (!parse_constant(constant)) return false;
  if (is_real(constant)) return fail(at, "expected an integer");
  out = int64_t(constant.bits);
  return true;
}

} // namespace assay::ptx
