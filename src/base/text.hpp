// Small helpers on text: the nearest known word for "did you mean", splitting, trimming.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// How many letters to insert, remove, change or swap with their neighbour (optimal string
// alignment).
size_t edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, or an empty string when none is similar (more than a third of
// its letters would have to change).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

// "; did you mean 'block'?" or an empty string: the end of an error message.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

// Fit for a terminal: control characters but line ends and tabs, and bytes that are no UTF-8, as
// \xNN; of a line that is longer than `most` bytes, its start and its end.
std::string printable(std::string_view text, size_t most);

std::string_view trim(std::string_view text);
std::vector<std::string> split_lines(std::string_view text); // without line ends
std::string join(const std::vector<std::string>& parts, std::string_view separator);

} // namespace assay
