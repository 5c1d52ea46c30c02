// Words and lines; see text.hpp.
#include "base/text.hpp"

#include <algorithm>
#include <cstdint>

namespace assay {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, above, row(b.size() + 1); // the rows of i - 2, i - 1 and i
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::move(above);
    above = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t changed = above[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, changed});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 200; // the distance takes the product of the lengths
  std::string best;
  if (word.size() > kLongest) return best;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best = nearest(word, candidates);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

namespace {

// Length of the UTF-8 character at the start of `text`; 0: there is none.
size_t character(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : uint8_t(0); };
  uint8_t lead = byte(0);
  size_t length = lead < 0x80       ? 1
                  : lead >> 5 == 6  ? 2
                  : lead >> 4 == 14 ? 3
                  : lead >> 3 == 30 ? 4
                                    : 0;
  for (size_t i = 1; i < length; ++i)
    if (byte(i) >> 6 != 2) return 0;
  uint32_t point = length < 2 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) point = point << 6 | (byte(i) & 0x3fu);
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (length && (point < kLeast[length] || point > 0x10ffff || point >> 11 == 0x1b)) return 0;
  bool control = point < 0x20 ? point != '\t' : point >= 0x7f && point < 0xa0;
  return control ? 0 : length;
}

} // namespace

std::string printable(std::string_view text, size_t most) {
  std::string out;
  for (std::string_view rest = text;;) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    size_t end = line.size(), skipped = end > most ? most * 2 / 3 : end + 1;
    for (size_t i = 0; i < end;) {
      if (i >= skipped) {
        out += "…";
        i = std::max(i, end - most / 3);
        while (i < end && uint8_t(line[i]) >> 6 == 2) ++i; // not into a character
        skipped = end + 1;
        continue;
      }
      size_t length = character(line.substr(i));
      constexpr char kDigits[] = "0123456789abcdef";
      auto byte = uint8_t(line[i]);
      if (length)
        out += line.substr(i, length);
      else
        (((out += "\\x") += kDigits[byte >> 4]) += kDigits[byte & 15]);
      i += std::max<size_t>(length, 1);
    }
    if (line.size() == rest.size()) return out;
    out += '\n';
    rest.remove_prefix(line.size() + 1);
  }
}

std::string_view trim(std::string_view text) {
  const char* blanks = " \t\r\n\v\f";
  size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.emplace_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) out += separator;
    out += part;
  }
  return out;
}

} // namespace assay
