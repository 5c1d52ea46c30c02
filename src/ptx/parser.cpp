// The frame of the parser: module header, items in order, scopes and errors.
// Source: PTX ISA 9.0, sections 4.1, 11.1 and 11.6.
#include "ptx/parser.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace assay::ptx {

bool Parser::fail(Position at, std::string message) {
  if (!error_) error_ = usage_error(std::move(message), Span{module_.file, at.line, at.column});
  return false;
}

bool Parser::unexpected(std::string_view wanted) {
  const Token& token = lexer_.token();
  if (token.kind == Token::Kind::end)
    return fail(fmt::format("expected {}, but the text ends", wanted));
  return fail(fmt::format("expected {}, not '{}'", wanted, token.text.substr(0, 60)));
}

bool Parser::accept(char c) {
  if (!lexer_.token().is_punctuation(c)) return false;
  lexer_.advance();
  return true;
}

bool Parser::accept(std::string_view word) {
  if (!lexer_.token().is(word)) return false;
  lexer_.advance();
  return true;
}

bool Parser::expect(char c) { return accept(c) || unexpected(fmt::format("'{}'", c)); }

bool Parser::name(std::string& out, std::string_view what) {
  if (lexer_.token().kind != Token::Kind::name) return unexpected(what);
  out = lexer_.token().text;
  lexer_.advance();
  return true;
}

bool Parser::unsigned_integer(uint64_t& out) {
  Position at = lexer_.token().position;
  int64_t value = 0;
  if (!parse_integer_constant(value)) return false;
  if (value < 0) return fail(at, "expected a number that is not negative");
  out = uint64_t(value);
  return true;
}

void Parser::define(std::string_view name, Symbol symbol) {
  auto [place, fresh] = symbols_.try_emplace(name, symbol);
  std::optional<Symbol> before;
  if (!fresh) {
    before = place->second;
    place->second = symbol;
  }
  if (!scopes_.empty()) undo_.emplace_back(name, before);
}

void Parser::close_scope() {
  for (size_t start = scopes_.back(); undo_.size() > start; undo_.pop_back()) {
    auto& [name, before] = undo_.back();
    if (before)
      symbols_[name] = *before;
    else
      symbols_.erase(name);
  }
  scopes_.pop_back();
}

// A name as declared, or as a member of a parameterised range: %r12 of %r<20>.
const Parser::Symbol* Parser::lookup(std::string_view name) const {
  auto found = symbols_.find(name);
  if (found != symbols_.end() && found->second.range == 0) return &found->second;
  size_t digits = name.size();
  while (digits > 1 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  for (; digits < name.size(); ++digits) {
    uint32_t number = 0;
    auto [end, error] = std::from_chars(name.data() + digits, name.data() + name.size(), number);
    found = symbols_.find(name.substr(0, digits));
    if (error == std::errc() && found != symbols_.end() && number < found->second.range)
      return &found->second;
  }
  return nullptr;
}

bool Parser::parse_version() {
  lexer_.advance();
  const Token& token = lexer_.token();
  std::string_view text = token.text;
  size_t point = text.find('.');
  auto read = [](std::string_view part, uint32_t& out) {
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), out);
    return error == std::errc() && end == part.data() + part.size();
  };
  if (token.kind != Token::Kind::real || point == text.npos ||
      !read(text.substr(0, point), module_.version_major) ||
      !read(text.substr(point + 1), module_.version_minor))
    return unexpected("a version such as 8.0");
  if (module_.version_major > 99 || module_.version_minor > 9)
    return fail(fmt::format("unknown PTX ISA version {}", text));
  module_.version = text;
  lexer_.advance();
  return true;
}

bool Parser::parse_target() {
  lexer_.advance();
  do {
    std::string target;
    if (!name(target, "a target such as sm_90")) return false;
    module_.target.push_back(std::move(target));
  } while (accept(','));
  return true;
}

bool Parser::parse_address_size() {
  lexer_.advance();
  Position at = lexer_.token().position;
  uint64_t size = 0;
  if (!unsigned_integer(size)) return false;
  if (size != 32 && size != 64) return fail(at, "the address size is 32 or 64");
  module_.address_size = uint32_t(size);
  return true;
}

bool Parser::parse_item() {
  const Token& token = lexer_.token();
  if (token.is(".file")) return parse_file_directive();
  if (token.is(".section")) return parse_section();
  if (token.is(".loc")) return parse_loc();
  if (token.is(".alias")) return parse_alias();
  if (token.is(".pragma")) return parse_raw_directive();
  if (token.is(".target")) return parse_target();
  if (token.is(".address_size")) return parse_address_size();
  if (accept(';')) return true;
  std::string linkage;
  for (std::string_view word : {".visible", ".extern", ".weak", ".common"})
    if (token.is(word)) {
      linkage = word;
      lexer_.advance();
      break;
    }
  if (token.is(".entry") || token.is(".func")) return parse_function(linkage, token.is(".entry"));
  if (token.kind != Token::Kind::dot) return unexpected("a directive");
  std::vector<Variable> variables;
  if (!parse_variables(linkage, variables)) return false;
  for (Variable& variable : variables) {
    module_.items.push_back({Module::Item::Kind::variable, uint32_t(module_.variables.size())});
    module_.variables.push_back(std::move(variable));
  }
  return true;
}

bool Parser::parse_module() {
  while (lexer_.token().is(".section") || lexer_.token().is(".file"))
    if (!parse_item()) return false;
  if (!lexer_.token().is(".version")) return unexpected("'.version' at the start of the module");
  if (!parse_version()) return false;
  if (!lexer_.token().is(".target")) return unexpected("'.target' after '.version'");
  if (!parse_target()) return false;
  target_ = module_.target[0];
  while (lexer_.token().kind != Token::Kind::end)
    if (!parse_item()) return false;
  return true;
}

Result<Module> Parser::run() {
  module_.locations.emplace_back();
  std::string_view text = lexer_.text();
  if (size_t at = text.find('\0'); at != text.npos) {
    std::string_view before = text.substr(0, at);
    Position p;
    p.line = uint32_t(std::count(before.begin(), before.end(), '\n') + 1);
    p.column = uint32_t(at - (before.rfind('\n') + 1) + 1); // npos + 1 is 0: the first line
    fail(p, "a byte is zero: this is no PTX text");
    return std::move(*error_);
  }
  if (!parse_module()) return std::move(*error_);
  resolve_debug_strings();
  return std::move(module_);
}

Result<Module> parse(const std::string& text, const std::string& file, ParseOptions options) {
  return Parser(text, file, options).run();
}

const Function* Module::find_function(const std::string& name) const {
  const Function* found = nullptr;
  for (const Function& function : functions)
    if (function.name == name && (!found || function.has_body)) found = &function;
  return found;
}

uint64_t Variable::size_bytes() const {
  uint64_t size = (uint64_t(bits(type)) + 7) / 8 * vector;
  bool overflow = register_range && __builtin_mul_overflow(size, register_range, &size);
  for (uint64_t dim : dims) overflow |= __builtin_mul_overflow(size, dim, &size);
  return overflow ? UINT64_MAX : size;
}

} // namespace assay::ptx
