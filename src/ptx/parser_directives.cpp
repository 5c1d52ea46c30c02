// Directives for debuggers (.file, .loc, .section with the strings that .loc names) and those kept
// verbatim. Source: PTX ISA 9.0, sections 11.5 and 11.7.
#include "ptx/parser.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace assay::ptx {

// .file index "name" {, timestamp, size}
bool Parser::parse_file_directive() {
  lexer_.advance();
  Position at = lexer_.token().position;
  uint64_t index = 0;
  if (!unsigned_integer(index)) return false;
  if (index > 1'000'000) return fail(at, "absurd file index");
  if (lexer_.token().kind != Token::Kind::string) return unexpected("a file name in quotes");
  if (module_.files.size() <= index) module_.files.resize(index + 1);
  module_.files[index] = lexer_.token().text;
  lexer_.advance();
  for (int i = 0; i < 2 && accept(','); ++i) {
    uint64_t ignored = 0; // time stamp and size say nothing that we use
    if (!unsigned_integer(ignored)) return false;
  }
  return true;
}

bool Parser::parse_section() {
  const size_t start = lexer_.token().offset;
  lexer_.advance();
  if (lexer_.token().kind != Token::Kind::name && lexer_.token().kind != Token::Kind::dot)
    return unexpected("a section name");
  lexer_.advance();
  if (!lexer_.token().is_punctuation('{')) return unexpected("'{'");
  if (lexer_.take_braces().empty()) return unexpected("'}' at the end of the section");
  module_.items.push_back({Module::Item::Kind::raw, uint32_t(module_.raw.size())});
  module_.raw.emplace_back(lexer_.text().substr(start, lexer_.previous_end() - start));
  return true;
}

// A directive that ends at a semicolon and stays as it is.
bool Parser::parse_raw_directive() {
  const size_t start = lexer_.token().offset;
  lexer_.take_until(';');
  if (!expect(';')) return false;
  module_.items.push_back({Module::Item::Kind::raw, uint32_t(module_.raw.size())});
  module_.raw.emplace_back(lexer_.text().substr(start, lexer_.previous_end() - start));
  return true;
}

bool Parser::parse_alias() {
  const size_t start = lexer_.token().offset;
  lexer_.advance();
  std::string alias, target;
  if (!name(alias, "a function name") || !expect(',') || !name(target, "a function name") ||
      !expect(';'))
    return false;
  module_.items.push_back({Module::Item::Kind::raw, uint32_t(module_.raw.size())});
  module_.raw.emplace_back(lexer_.text().substr(start, lexer_.previous_end() - start));
  module_.aliases.emplace_back(std::move(alias), std::move(target));
  return true;
}

// .loc file line column {, function_name label {+ offset}, inlined_at file line column}
// The place named by inlined_at is one that an earlier .loc gave, which makes the chain.
bool Parser::parse_loc() {
  const size_t start = lexer_.token().offset;
  lexer_.advance();
  Location location;
  auto place = [&](uint32_t& file, uint32_t& line, uint32_t& column) {
    uint64_t values[3];
    for (uint64_t& value : values)
      if (!unsigned_integer(value)) return false;
    file = uint32_t(values[0]), line = uint32_t(values[1]), column = uint32_t(values[2]);
    return true;
  };
  auto key = [](uint32_t file, uint32_t line, uint32_t column) {
    return fmt::format("{} {} {}", file, line, column);
  };
  if (!place(location.file, location.line, location.column)) return false;
  while (accept(',')) {
    if (accept("function_name")) {
      if (!name(location.function_label, "a label")) return false;
      if (accept('+')) {
        uint64_t offset = 0;
        if (!unsigned_integer(offset)) return false;
        location.function_label += fmt::format("+{}", offset);
      }
    } else if (accept("inlined_at")) {
      uint32_t file, line, column;
      if (!place(file, line, column)) return false;
      auto [found, fresh] = place_index_.try_emplace(key(file, line, column), 0);
      if (fresh) { // no .loc of its own
        found->second = uint32_t(module_.locations.size());
        module_.locations.push_back({file, line, column, "", "", 0});
      }
      location.inlined_at = found->second;
    } else {
      return unexpected("'function_name' or 'inlined_at'");
    }
  }
  std::string whole(lexer_.text().substr(start, lexer_.previous_end() - start));
  whole += fmt::format("@{}", location.inlined_at);
  auto [known, fresh] = location_index_.try_emplace(whole, uint32_t(module_.locations.size()));
  loc_ = known->second;
  place_index_[key(location.file, location.line, location.column)] = loc_;
  if (fresh) module_.locations.push_back(std::move(location));
  return true;
}

namespace {

// The bytes of a section's text, with the offset of each label. Only what nvcc writes for strings:
// "label:" and ".b8 n, n, …".
void read_strings(std::string_view text, std::string& bytes,
                  std::unordered_map<std::string_view, size_t>& labels) {
  Lexer lexer(text);
  while (lexer.token().kind != Token::Kind::end && !lexer.token().is_punctuation('{'))
    lexer.advance();
  bool in_bytes = false;
  while (lexer.token().kind != Token::Kind::end) {
    Token token = lexer.token();
    lexer.advance();
    if (token.kind == Token::Kind::name && lexer.token().is_punctuation(':'))
      labels.emplace(token.text, bytes.size());
    if (token.kind == Token::Kind::dot) in_bytes = token.text == ".b8";
    if (in_bytes && token.kind == Token::Kind::integer) {
      unsigned value = 0;
      std::from_chars(token.text.data(), token.text.data() + token.text.size(), value);
      bytes += char(value);
    }
  }
}

} // namespace

void Parser::resolve_debug_strings() {
  std::string bytes;
  std::unordered_map<std::string_view, size_t> labels;
  for (const std::string& raw : module_.raw)
    if (raw.starts_with(".section") && raw.find(".debug_str") != raw.npos)
      read_strings(raw, bytes, labels);
  for (Location& location : module_.locations) {
    if (location.function_label.empty()) continue;
    location.function = location.function_label;
    std::string_view label = location.function_label;
    size_t plus = std::min(label.find('+'), label.size());
    auto found = labels.find(label.substr(0, plus));
    if (found == labels.end()) continue;
    size_t offset = 0;
    if (plus < label.size())
      std::from_chars(label.data() + plus + 1, label.data() + label.size(), offset);
    size_t begin = std::min(found->second + offset, bytes.size());
    size_t end = std::min(bytes.find('\0', begin), bytes.size());
    location.function = bytes.substr(begin, end - begin);
  }
}

} // namespace assay::ptx
