// Tokens of PTX as views into the source text; nothing is copied. A dot-word (".global",
// ".shared::cta", ".1d") is one token, and so is a name with its leading % or $.
// Source: PTX ISA 9.0, sections 4.1 to 4.4.
#pragma once

#include "ptx/module.hpp"

#include <string_view>

namespace assay::ptx {

struct Token {
  enum class Kind : uint8_t { end, name, dot, integer, real, string, punctuation, bad };
  Kind kind = Kind::end;
  std::string_view text; // strings: without the quotes
  size_t offset = 0;     // of the first character
  Position position;

  bool is(std::string_view spelling) const {
    return (kind == Kind::punctuation || kind == Kind::name || kind == Kind::dot) &&
           text == spelling;
  }
  bool is_punctuation(char c) const {
    return kind == Kind::punctuation && text.size() == 1 && text[0] == c;
  }
};

class Lexer {
public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& token() const { return token_; }
  void advance();

  // Whether a single colon follows the current token.
  bool at_label() const;
  // The characters of a mnemonic that start at the current name token: "ld.global.v4.f32". Moves
  // past it; `token()` is then what follows.
  std::string_view take_mnemonic();
  // The text from the current token up to the next `stop` character outside of strings, which
  // becomes the current token. Empty optional at end of text.
  std::string_view take_until(char stop);
  // The text of a balanced { … } block whose '{' is the current token, braces included.
  std::string_view take_braces();

  std::string_view text() const { return text_; }
  // End offset of the previous token.
  size_t previous_end() const { return previous_end_; }

private:
  bool skip_blanks(); // false when a comment does not end
  void lex_number(size_t start);
  size_t word_end(size_t at) const;

  std::string_view text_;
  size_t at_ = 0, line_start_ = 0, previous_end_ = 0;
  uint32_t line_ = 1;
  Token token_;
};

// Whether a character can stand inside a name.
inline bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

} // namespace assay::ptx
