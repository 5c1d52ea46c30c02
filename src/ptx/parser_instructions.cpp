// Instructions: guard, mnemonic, operands, and the row of isa.def that they match. A mnemonic is
// looked up once per module; later ones with the same spelling copy the result.
// Source: PTX ISA 9.0, sections 4.3.2, 9.2 and 9.7.12.5 (call).
#include "ptx/parser.hpp"

#include <fmt/format.h>

namespace assay::ptx {

const Parser::Mnemonic& Parser::mnemonic(std::string_view spelling) {
  auto [place, fresh] = mnemonics_.try_emplace(spelling);
  Mnemonic& result = place->second;
  if (!fresh) return result;
  size_t dot = std::min(spelling.find('.'), spelling.size());
  result.opcode = spelling.substr(0, dot);
  result.is_call = result.opcode == "call";
  while (dot < spelling.size()) {
    size_t next = std::min(spelling.find('.', dot + 1), spelling.size());
    result.modifiers.emplace_back(spelling.substr(dot, next - dot));
    dot = next;
  }
  const uint32_t version = module_.version_major * 10 + module_.version_minor;
  for (bool reorder : {false, true}) {
    for (const IsaRow* row : isa_rows(result.opcode)) {
      bool fits = !reorder && modifiers_match(row->modifiers, result.modifiers);
      if (reorder)
        if (auto ordered = match_reordered(*row, result.modifiers)) {
          fits = true;
          result.modifiers = std::move(*ordered);
          reorder = false; // the rest of the rows sees the order of this one
        }
      if (fits && !availability(*row, result.modifiers, version, target_).unmet)
        result.rows.push_back(row);
    }
    if (!result.rows.empty()) break;
  }
  return result;
}

// The row whose operand pattern fits too; without one the instruction stays unknown.
bool Parser::choose_row(const Mnemonic& mnemonic, Instruction& instruction) {
  for (const IsaRow* row : mnemonic.rows)
    if (operands_match(row->operands, instruction.modifiers, instruction.operands)) {
      instruction.row = row;
      return true;
    }
  if (options_.keep_going) return true;
  error_ = explain_unknown(instruction, module_);
  return false;
}

// call{.uni} {(returns),} target {, (arguments)} {, prototype or table};
bool Parser::parse_call_operands(Instruction& instruction) {
  auto list = [&]() {
    Operand& operand = instruction.operands.emplace_back();
    operand.kind = Operand::Kind::list;
    operand.position = lexer_.token().position;
    return parse_operand_list(operand.elements, ')', 0);
  };
  if (lexer_.token().is_punctuation('(') && (!list() || !expect(','))) return false;
  if (!parse_operand(instruction.operands.emplace_back())) return false;
  while (accept(',')) {
    if (lexer_.token().is_punctuation('(')) {
      if (!list()) return false;
    } else if (!parse_operand(instruction.extra.emplace_back())) {
      return false;
    }
  }
  return true;
}

// Operands of an instruction that isa.def does not have. They may look like anything; what does
// not parse stays as one verbatim operand, so that the printer gives it back.
bool Parser::parse_unknown_operands(Instruction& instruction) {
  const Lexer start = lexer_;
  const size_t labels = pending_labels_.size();
  bool ok = true;
  if (!lexer_.token().is_punctuation(';')) {
    do ok = parse_operand(instruction.operands.emplace_back());
    while (ok && accept(','));
  }
  pending_labels_.resize(labels);
  if (ok && lexer_.token().is_punctuation(';')) return true;
  error_.reset();
  lexer_ = start;
  instruction.operands.clear();
  Operand& operand = instruction.operands.emplace_back();
  operand.kind = Operand::Kind::symbol;
  operand.position = lexer_.token().position;
  operand.name = lexer_.take_until(';');
  return true;
}

bool Parser::parse_instruction(Statement& statement) {
  Instruction& instruction = statement.instruction;
  instruction.loc = loc_;
  if (accept('@')) {
    instruction.guard_negated = accept('!');
    const Token guard = lexer_.token();
    if (!name(instruction.guard, "a predicate register")) return false;
    const Symbol* symbol = lookup(guard.text);
    if (!symbol || symbol->kind != SymbolKind::predicate)
      return fail(guard.position,
                  fmt::format("'{}' is not a predicate register declared here", guard.text));
  }
  if (lexer_.token().kind != Token::Kind::name) return unexpected("an instruction");
  instruction.position = lexer_.token().position;
  std::string_view spelling = lexer_.take_mnemonic();
  std::string joined; // blanks between opcode and modifiers: rare, but legal
  while (lexer_.token().kind == Token::Kind::dot) {
    joined = joined.empty() ? std::string(spelling) : joined;
    joined += lexer_.token().text;
    lexer_.advance();
  }
  Mnemonic unshared;
  const Mnemonic* known = &unshared;
  if (joined.empty()) {
    known = &mnemonic(spelling);
  } else {
    unshared = mnemonic(joined);
    mnemonics_.erase(joined); // its key dies with `joined`
  }
  instruction.opcode = known->opcode;
  instruction.modifiers = known->modifiers;
  if (known->is_call) {
    if (!parse_call_operands(instruction)) return false;
  } else if (known->rows.empty()) {
    if (!parse_unknown_operands(instruction)) return false;
  } else if (!lexer_.token().is_punctuation(';')) {
    do
      if (!parse_operand(instruction.operands.emplace_back())) return false;
    while (accept(','));
  }
  if (!lexer_.token().is_punctuation(';')) return unexpected("',' or ';'");
  if (!choose_row(*known, instruction)) return false;
  lexer_.advance();
  return true;
}

} // namespace assay::ptx
