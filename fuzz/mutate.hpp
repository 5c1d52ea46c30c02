// Mutation of PTX by words instead of bytes, so that most inputs still parse and reach what lies
// behind the parser: another form of the instruction table, another register, number or modifier of
// the same text, lines doubled, dropped or exchanged. Included by one source file of each fuzzer
// that wants it.
#pragma once

#include "ptx/isa.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace mutate {

struct Word {
  size_t at = 0, length = 0;
  char kind = 0; // % register, . modifier, 0 number, a name
};

inline bool is_word(char c) {
  return std::isalnum(uint8_t(c)) || c == '_' || c == '$' || c == '%' || c == ':';
}

inline std::vector<Word> words_of(const std::string& text) {
  std::vector<Word> words;
  for (size_t i = 0; i < text.size();) {
    if (!is_word(text[i]) && text[i] != '.') {
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (end < text.size() && is_word(text[end])) ++end;
    char first = text[i];
    words.push_back({i, end - i,
                     std::isdigit(uint8_t(first))     ? '0'
                     : is_word(first) && first != '%' ? 'a'
                                                      : first});
    i = end;
  }
  return words;
}

class Mutator {
public:
  Mutator(std::string text, unsigned seed) : text_(std::move(text)), random_(seed) {}

  std::string run() {
    for (unsigned n = 1 + below(3); n; --n) {
      unsigned choice = below(100);
      if (choice < 20)
        other_form();
      else if (choice < 75)
        other_word();
      else
        move_lines(choice);
    }
    return std::move(text_);
  }

private:
  unsigned below(size_t n) { return n ? unsigned(random_() % n) : 0; }

  std::string number() {
    static constexpr const char* kNumbers[] = {"0",
                                               "1",
                                               "2",
                                               "3",
                                               "4",
                                               "5",
                                               "7",
                                               "8",
                                               "12",
                                               "15",
                                               "16",
                                               "17",
                                               "31",
                                               "32",
                                               "33",
                                               "63",
                                               "64",
                                               "128",
                                               "255",
                                               "256",
                                               "1024",
                                               "4096",
                                               "65535",
                                               "65536",
                                               "0x7fffffff",
                                               "0x80000000",
                                               "4294967295",
                                               "4294967296",
                                               "0xffffffffff",
                                               "0x7fffffffffffffff",
                                               "0xffffffffffffffff",
                                               "0f7fc00000",
                                               "0d7ff0000000000000"};
    return kNumbers[below(std::size(kNumbers))];
  }

  // The opcode with its modifiers becomes a spelling of the table, mostly of the same opcode.
  void other_form() {
    std::vector<Word> words = words_of(text_);
    std::vector<size_t> heads;
    for (size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i].kind == 'a' && words[i + 1].kind == '.' &&
          words[i + 1].at == words[i].at + words[i].length)
        heads.push_back(i);
    if (heads.empty()) return;
    size_t head = heads[below(heads.size())], last = head + 1;
    while (last + 1 < words.size() && words[last + 1].kind == '.' &&
           words[last + 1].at == words[last].at + words[last].length)
      ++last;
    std::string opcode = text_.substr(words[head].at, words[head].length);
    auto rows = assay::ptx::isa_rows(opcode);
    const assay::ptx::IsaRow& row =
        rows.empty() || below(8) == 0 ? assay::ptx::isa_rows()[below(assay::ptx::isa_rows().size())]
                                      : *rows[below(rows.size())];
    std::string spelling(row.opcode);
    uint64_t count = assay::ptx::variant_count(row.modifiers);
    for (const std::string& word :
         assay::ptx::variant(row.modifiers, random_() % std::max<uint64_t>(count, 1)))
      spelling += word;
    size_t end = words[last].at + words[last].length;
    text_.replace(words[head].at, end - words[head].at, spelling);
  }

  void other_word() {
    std::vector<Word> words = words_of(text_);
    if (words.empty()) return;
    Word old = words[below(words.size())];
    std::string with;
    if (old.kind == '0' && below(2)) {
      with = number();
    } else {
      std::vector<Word> same;
      for (const Word& w : words)
        if (w.kind == old.kind) same.push_back(w);
      Word other = same[below(same.size())];
      with = text_.substr(other.at, other.length);
      if (old.kind == '%' && below(16) == 0) with = number();
    }
    text_.replace(old.at, old.length, with);
  }

  void move_lines(unsigned choice) {
    std::vector<std::string> lines(1);
    for (char c : text_) {
      lines.back() += c;
      if (c == '\n') lines.emplace_back();
    }
    size_t from = below(lines.size()), to = below(lines.size());
    if (choice < 85)
      lines.insert(lines.begin() + ptrdiff_t(to), lines[from]);
    else if (choice < 92)
      std::swap(lines[from], lines[to]);
    else
      lines[from].clear();
    text_.clear();
    for (const std::string& line : lines) text_ += line;
  }

  std::string text_;
  std::mt19937_64 random_;
};

} // namespace mutate

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (seed % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  text = mutate::Mutator(std::move(text), seed).run();
  size_t length = std::min(text.size(), max_size);
  std::memcpy(data, text.data(), length);
  return length;
}
