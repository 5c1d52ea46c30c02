// The recursive-descent parser behind parse(). One token of lookahead; the first error stops it.
// Names resolve while parsing, because PTX declares before use; only labels may come later.
// Invariant: every `bool` method returns false exactly when error_ is set.
// Source: PTX ISA 9.0, chapters 4, 5, 6 and 11.
#pragma once

#include "ptx/isa.hpp"
#include "ptx/lexer.hpp"
#include "ptx/module.hpp"

#include <optional>
#include <string_view>
#include <unordered_map>

namespace assay::ptx {

// A constant expression's value, section 4.5.
struct Constant {
  enum class Kind : uint8_t { s64, u64, f32, f64 } kind = Kind::s64;
  uint64_t bits = 0;
};

class Parser {
public:
  Parser(std::string_view text, const std::string& file, ParseOptions options)
      : lexer_(text), options_(options) {
    module_.file = file;
  }
  Result<Module> run();

private:
  enum class SymbolKind : uint8_t { reg, predicate, variable, function };
  struct Symbol {
    SymbolKind kind;
    uint32_t range;         // parameterised registers: %r<range>
    uint32_t element_bytes; // of arrays: name[index]
  };
  // What one spelling of opcode and modifiers means; computed once per module.
  struct Mnemonic {
    std::string opcode;
    std::vector<std::string> modifiers;
    std::vector<const IsaRow*> rows; // whose modifiers, version and target fit
    bool is_call = false;
  };
  struct PendingLabel {
    std::string_view name;
    Position position;
  };

  // parser.cpp: the frame
  bool parse_module();
  bool parse_item();
  bool parse_version();
  bool parse_target();
  bool parse_address_size();
  bool fail(Position at, std::string message);
  bool fail(std::string message) { return fail(lexer_.token().position, std::move(message)); }
  bool unexpected(std::string_view wanted);
  bool expect(char c);
  bool accept(char c);
  bool accept(std::string_view word);
  bool name(std::string& out, std::string_view what);
  bool unsigned_integer(uint64_t& out);

  // parser_directives.cpp
  bool parse_file_directive();
  bool parse_section();
  bool parse_loc();
  bool parse_raw_directive();
  bool parse_alias();
  void resolve_debug_strings();

  // parser_functions.cpp
  bool parse_function(const std::string& linkage, bool is_entry);
  bool parse_parameters(std::vector<Variable>& out, Space space);
  bool parse_performance(Function& function);
  bool parse_body(Function& function);
  bool parse_statement(Function& function);
  bool parse_dot_statement(Function& function);
  bool parse_targets(Statement& statement);
  bool parse_prototype(Statement& statement);
  bool check_labels(const Function& function);

  // parser_variables.cpp
  bool parse_variables(const std::string& linkage, std::vector<Variable>& out);
  bool parse_declaration_head(Variable& variable);
  bool parse_qualifier(Variable& variable, bool& done);
  bool parse_declarator(Variable& variable);
  bool parse_ptr(Variable& variable);
  bool parse_attribute(std::string& out);
  bool parse_initialiser(Variable& variable);
  bool parse_initialiser_list(Variable& variable, size_t dim, uint32_t depth);
  bool parse_initialiser_value(Variable& variable);

  // parser_instructions.cpp
  bool parse_instruction(Statement& statement);
  bool parse_unknown_operands(Instruction& instruction);
  bool parse_call_operands(Instruction& instruction);
  const Mnemonic& mnemonic(std::string_view spelling);
  bool choose_row(const Mnemonic& mnemonic, Instruction& instruction);

  // operands.cpp
  bool parse_operand(Operand& operand, uint32_t depth = 0);
  bool parse_name_operand(Operand& operand);
  bool parse_address(Operand& operand, uint32_t depth);
  bool parse_operand_list(std::vector<Operand>& out, char close, uint32_t depth);
  bool parse_constant_operand(Operand& operand);
  bool resolve_name(Operand& operand);

  // constants.cpp
  bool parse_constant(Constant& out);
  bool parse_binary(Constant& out, int level, uint32_t depth);
  bool parse_unary(Constant& out, uint32_t depth);
  bool parse_literal(Constant& out);
  bool parse_integer_constant(int64_t& out);

  // Scopes: the names declared in the open blocks, innermost declaration first.
  void open_scope() { scopes_.push_back(undo_.size()); }
  void close_scope();
  void define(std::string_view name, Symbol symbol);
  const Symbol* lookup(std::string_view name) const;

  Lexer lexer_;
  ParseOptions options_;
  Module module_;
  std::optional<Error> error_;
  std::unordered_map<std::string_view, Symbol> symbols_;
  std::vector<std::pair<std::string_view, std::optional<Symbol>>> undo_;
  std::vector<size_t> scopes_;
  std::unordered_map<std::string_view, Mnemonic> mnemonics_;
  std::unordered_map<std::string_view, bool> labels_;
  std::vector<PendingLabel> pending_labels_;
  std::unordered_map<std::string, uint32_t> location_index_; // of a whole .loc
  std::unordered_map<std::string, uint32_t> place_index_;    // of file:line:column
  uint32_t loc_ = 0;
  uint64_t padding_ = 0; // elements that initialisers left out
  std::string target_;   // a copy: a second .target may move the module's list
};

} // namespace assay::ptx
