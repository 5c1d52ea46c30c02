// Kernels and device functions: linkage, parameters, performance directives, bodies with their
// labels, blocks and tables. Source: PTX ISA 9.0, sections 11.1 to 11.4.
#include "ptx/parser.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace assay::ptx {
namespace {

bool starts_performance(const Token& token) {
  static constexpr std::string_view kWords[] = {".maxnreg",
                                                ".maxntid",
                                                ".reqntid",
                                                ".minnctapersm",
                                                ".maxnctapersm",
                                                ".noreturn",
                                                ".pragma",
                                                ".explicitcluster",
                                                ".reqnctapercluster",
                                                ".maxclusterrank",
                                                ".blocksareclusters",
                                                ".abi_preserve",
                                                ".abi_preserve_control"};
  if (token.kind != Token::Kind::dot) return false;
  for (std::string_view word : kWords)
    if (token.text == word) return true;
  return false;
}

} // namespace

// A parenthesised list of .param or .reg declarations.
bool Parser::parse_parameters(std::vector<Variable>& out, Space space) {
  if (!expect('(')) return false;
  if (accept(')')) return true;
  do {
    Variable variable;
    variable.position = lexer_.token().position;
    if (!parse_declaration_head(variable) || !parse_declarator(variable)) return false;
    if (variable.space == Space::param) variable.space = space;
    out.push_back(std::move(variable));
  } while (accept(','));
  return expect(')');
}

bool Parser::parse_performance(Function& function) {
  while (starts_performance(lexer_.token())) {
    std::string text(lexer_.token().text);
    function.noreturn |= text == ".noreturn";
    lexer_.advance();
    while (lexer_.token().kind == Token::Kind::integer ||
           lexer_.token().kind == Token::Kind::string || lexer_.token().is_punctuation(',')) {
      const Token& token = lexer_.token();
      if (token.kind == Token::Kind::string)
        text += fmt::format(" \"{}\"", token.text);
      else
        text += fmt::format("{}{}", token.is_punctuation(',') ? "" : " ", token.text);
      lexer_.advance();
    }
    if (text.starts_with(".pragma")) accept(';');
    function.performance.push_back(std::move(text));
  }
  return true;
}

bool Parser::parse_function(const std::string& linkage, bool is_entry) {
  Function function;
  function.position = lexer_.token().position;
  function.linkage = linkage;
  function.is_entry = is_entry;
  lexer_.advance();
  if (lexer_.token().is(".attribute") && !parse_attribute(function.attributes)) return false;
  open_scope();
  loc_ = 0;
  if (!is_entry && lexer_.token().is_punctuation('(') &&
      !parse_parameters(function.returns, Space::param_func))
    return false;
  std::string_view spelled = lexer_.token().text;
  if (!name(function.name, "a function name")) return false;
  if (lexer_.token().is_punctuation('(') &&
      !parse_parameters(function.params, is_entry ? Space::param_entry : Space::param_func))
    return false;
  if (!parse_performance(function)) return false;
  // Known to its own body (recursion) and, below, to what follows.
  define(spelled, {SymbolKind::function, 0, 0});
  if (lexer_.token().is_punctuation('{')) {
    function.has_body = true;
    if (!parse_body(function)) return false;
  } else if (!expect(';')) {
    return false;
  }
  close_scope();
  define(spelled, {SymbolKind::function, 0, 0});
  module_.items.push_back({Module::Item::Kind::function, uint32_t(module_.functions.size())});
  module_.functions.push_back(std::move(function));
  return true;
}

bool Parser::parse_body(Function& function) {
  labels_.clear();
  pending_labels_.clear();
  // Statements are large, so growing the vector would cost more than parsing: count first.
  const size_t begin = lexer_.token().offset;
  std::string_view rest = lexer_.text().substr(begin, lexer_.text().find("\n}", begin) - begin);
  function.body.reserve(
      std::min<size_t>(std::count(rest.begin(), rest.end(), '\n'), rest.size() / 16) + 1);
  lexer_.advance(); // '{'
  const size_t outer = scopes_.size();
  while (true) {
    const Token& token = lexer_.token();
    if (token.kind == Token::Kind::end)
      return unexpected(fmt::format("'}}' at the end of '{}'", function.name));
    if (token.is_punctuation('}') || token.is_punctuation('{')) {
      bool open = token.text == "{";
      Position at = token.position;
      lexer_.advance();
      if (!open && scopes_.size() == outer) return check_labels(function);
      Statement& statement = function.body.emplace_back();
      statement.position = at;
      statement.kind = open ? Statement::Kind::block_begin : Statement::Kind::block_end;
      if (open)
        open_scope();
      else
        close_scope();
    } else if (!parse_statement(function)) {
      return false;
    }
  }
}

bool Parser::check_labels(const Function& function) {
  for (const PendingLabel& pending : pending_labels_)
    if (!labels_.count(pending.name))
      return fail(pending.position, fmt::format("'{}' is declared nowhere", pending.name));
  return true;
}

bool Parser::parse_statement(Function& function) {
  Token token = lexer_.token();
  if (token.kind == Token::Kind::dot) return parse_dot_statement(function);
  if (accept(';')) return true;
  if (token.kind == Token::Kind::name) {
    if (lexer_.at_label()) {
      lexer_.advance();
      lexer_.advance();
      labels_[token.text] = true;
      Statement& statement = function.body.emplace_back();
      statement.position = token.position;
      statement.name = token.text;
      statement.kind = Statement::Kind::label;
      if (lexer_.token().is(".branchtargets") || lexer_.token().is(".calltargets"))
        return parse_targets(statement);
      if (lexer_.token().is(".callprototype")) return parse_prototype(statement);
      return true;
    }
  } else if (!token.is_punctuation('@')) {
    return unexpected("an instruction");
  }
  Statement& statement = function.body.emplace_back();
  statement.position = token.position;
  return parse_instruction(statement);
}

// name: .branchtargets a, b;   name: .calltargets f, g;
bool Parser::parse_targets(Statement& statement) {
  bool branch = lexer_.token().is(".branchtargets");
  statement.kind = branch ? Statement::Kind::branch_targets : Statement::Kind::call_targets;
  lexer_.advance();
  do {
    Token token = lexer_.token();
    std::string target;
    if (!name(target, "a name")) return false;
    if (branch) pending_labels_.push_back({token.text, token.position});
    statement.names.push_back(std::move(target));
  } while (accept(','));
  return expect(';');
}

// name: .callprototype (returns) _ (parameters) .noreturn;
bool Parser::parse_prototype(Statement& statement) {
  statement.kind = Statement::Kind::call_prototype;
  const size_t start = lexer_.token().offset;
  lexer_.advance();
  open_scope();
  if (lexer_.token().is_punctuation('(') && !parse_parameters(statement.returns, Space::param_func))
    return false;
  if (!accept("_")) return unexpected("'_'");
  if (lexer_.token().is_punctuation('(') && !parse_parameters(statement.params, Space::param_func))
    return false;
  Function attributes; // .noreturn and .abi_preserve stay in the text
  if (!parse_performance(attributes)) return false;
  close_scope();
  statement.text = lexer_.text().substr(start, lexer_.previous_end() - start);
  return expect(';');
}

bool Parser::parse_dot_statement(Function& function) {
  Token token = lexer_.token();
  if (token.text == ".loc") return parse_loc();
  if (token.text == ".file") return parse_file_directive();
  if (token.text == ".pragma") {
    lexer_.advance();
    if (lexer_.token().kind != Token::Kind::string) return unexpected("a pragma in quotes");
    Statement& statement = function.body.emplace_back();
    statement.kind = Statement::Kind::pragma;
    statement.position = token.position;
    statement.name = lexer_.token().text;
    lexer_.advance();
    while (accept(',')) {
      if (lexer_.token().kind != Token::Kind::string) return unexpected("a pragma in quotes");
      statement.name += fmt::format("\", \"{}", lexer_.token().text);
      lexer_.advance();
    }
    return expect(';');
  }
  std::string linkage;
  if (accept(".extern")) linkage = ".extern";
  std::vector<Variable> variables;
  if (!parse_variables(linkage, variables)) return false;
  for (Variable& variable : variables) {
    Statement& statement = function.body.emplace_back();
    statement.kind = Statement::Kind::variable;
    statement.position = variable.position;
    statement.variable = std::move(variable);
  }
  return true;
}

} // namespace assay::ptx
