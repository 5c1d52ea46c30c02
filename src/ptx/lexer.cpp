// The lexer. One pass, no copies; line and column follow from the newlines that it skips.
#include "ptx/lexer.hpp"

namespace assay::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

} // namespace

bool Lexer::skip_blanks() {
  const size_t size = text_.size();
  while (at_ < size) {
    char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '/' && at_ + 1 < size && text_[at_ + 1] == '/') {
      size_t newline = text_.find('\n', at_);
      at_ = newline == text_.npos ? size : newline;
    } else if (c == '/' && at_ + 1 < size && text_[at_ + 1] == '*') {
      size_t end = text_.find("*/", at_ + 2);
      if (end == text_.npos) return false;
      for (size_t i = at_; i < end; ++i)
        if (text_[i] == '\n') {
          ++line_;
          line_start_ = i + 1;
        }
      at_ = end + 2;
    } else if (c == '#' && at_ == line_start_) {
      size_t newline = text_.find('\n', at_); // a line marker of the preprocessor
      at_ = newline == text_.npos ? size : newline;
    } else {
      break;
    }
  }
  return true;
}

// The end of a dot-word's or mnemonic's part that starts at `at`: name characters, and "::" when
// a name character follows.
size_t Lexer::word_end(size_t at) const {
  const size_t size = text_.size();
  while (at < size) {
    if (is_name_char(text_[at]))
      ++at;
    else if (text_[at] == ':' && at + 2 < size && text_[at + 1] == ':' &&
             is_name_char(text_[at + 2]))
      at += 2;
    else
      break;
  }
  return at;
}

void Lexer::lex_number(size_t start) {
  const size_t size = text_.size();
  auto char_at = [&](size_t i) { return i < size ? text_[i] : '\0'; };
  size_t i = start;
  token_.kind = Token::Kind::integer;
  char second = char_at(start + 1);
  if (text_[start] == '0' && (second == 'x' || second == 'X')) {
    for (i = start + 2; is_hex(char_at(i));) ++i;
  } else if (text_[start] == '0' &&
             (second == 'f' || second == 'F' || second == 'd' || second == 'D') &&
             is_hex(char_at(start + 2))) {
    token_.kind = Token::Kind::real;
    for (i = start + 2; is_hex(char_at(i));) ++i;
  } else if (text_[start] == '0' && (second == 'b' || second == 'B')) {
    for (i = start + 2; char_at(i) == '0' || char_at(i) == '1';) ++i;
  } else {
    while (is_digit(char_at(i))) ++i;
    if (char_at(i) == '.' && is_digit(char_at(i + 1))) {
      token_.kind = Token::Kind::real;
      for (++i; is_digit(char_at(i));) ++i;
    } else if (char_at(i) == '.' && !is_name_char(char_at(i + 1))) {
      token_.kind = Token::Kind::real; // "1."
      ++i;
    }
    size_t exponent = i + 1;
    if (char_at(exponent) == '+' || char_at(exponent) == '-') ++exponent;
    if ((char_at(i) == 'e' || char_at(i) == 'E') && is_digit(char_at(exponent))) {
      token_.kind = Token::Kind::real;
      for (i = exponent; is_digit(char_at(i));) ++i;
    }
  }
  if (token_.kind == Token::Kind::integer && char_at(i) == 'U') ++i;
  if (is_name_char(char_at(i))) { // "12abc"
    token_.kind = Token::Kind::bad;
    while (is_name_char(char_at(i))) ++i;
  }
  at_ = i;
}

void Lexer::advance() {
  previous_end_ = at_;
  bool closed = skip_blanks();
  const size_t size = text_.size();
  token_.offset = at_;
  token_.position = {line_, uint32_t(at_ - line_start_ + 1)};
  if (!closed) {
    token_.kind = Token::Kind::bad;
    token_.text = text_.substr(at_, 2);
    at_ = size;
    return;
  }
  if (at_ >= size) {
    token_.kind = Token::Kind::end;
    token_.text = {};
    return;
  }
  const size_t start = at_;
  const char c = text_[start];
  const char next = start + 1 < size ? text_[start + 1] : '\0';
  if (is_digit(c)) {
    lex_number(start);
  } else if (is_name_char(c) || (c == '%' && is_name_char(next) && !is_digit(next))) {
    token_.kind = Token::Kind::name;
    for (++at_; at_ < size && is_name_char(text_[at_]);) ++at_;
  } else if (c == '.' && is_name_char(next)) {
    token_.kind = Token::Kind::dot;
    at_ = word_end(start + 1);
  } else if (c == '"') {
    size_t end = start + 1;
    while (end < size && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
    token_.kind = end < size && text_[end] == '"' ? Token::Kind::string : Token::Kind::bad;
    at_ = end < size ? end + 1 : size;
    token_.text = text_.substr(start + 1, (end < size ? end : size) - start - 1);
    return;
  } else {
    static constexpr std::string_view kPairs[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
    token_.kind = c > ' ' && c < 127 ? Token::Kind::punctuation : Token::Kind::bad;
    ++at_;
    for (std::string_view pair : kPairs)
      if (pair[0] == c && pair[1] == next) {
        ++at_;
        break;
      }
  }
  token_.text = text_.substr(start, at_ - start);
}

bool Lexer::at_label() const {
  if (at_ < text_.size() && text_[at_] == ':')
    return at_ + 1 >= text_.size() || text_[at_ + 1] != ':';
  if (at_ >= text_.size() || text_[at_] == '.') return false;
  Lexer after = *this; // blanks or comments in between
  after.advance();
  return after.token().is_punctuation(':') &&
         (after.at_ >= text_.size() || text_[after.at_] != ':');
}

std::string_view Lexer::take_mnemonic() {
  const size_t start = token_.offset;
  const size_t size = text_.size();
  while (at_ + 1 < size && text_[at_] == '.' && is_name_char(text_[at_ + 1]))
    at_ = word_end(at_ + 1);
  std::string_view all = text_.substr(start, at_ - start);
  advance();
  return all;
}

std::string_view Lexer::take_until(char stop) {
  const size_t start = token_.offset;
  while (token_.kind != Token::Kind::end && !token_.is_punctuation(stop)) advance();
  size_t end = previous_end_ < start ? start : previous_end_;
  return text_.substr(start, end - start);
}

std::string_view Lexer::take_braces() {
  const size_t start = token_.offset;
  size_t depth = 0;
  while (token_.kind != Token::Kind::end) {
    if (token_.is_punctuation('{')) ++depth;
    if (token_.is_punctuation('}') && --depth == 0) {
      advance();
      return text_.substr(start, previous_end_ - start);
    }
    advance();
  }
  return {};
}

} // namespace assay::ptx
