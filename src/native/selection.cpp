// Selection of launches; see selection.hpp.
#include "native/selection.hpp"

namespace assay::native {

bool matches_pattern(const std::string& pattern, const std::string& text) {
  size_t p = 0, t = 0, star = std::string::npos, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool matches_name(const Selection& selection, const std::string& symbol) {
  if (selection.names.empty()) return true;
  const std::string name = demangled(symbol), base = base_name(name);
  for (const std::string& pattern : selection.names)
    if (matches_pattern(pattern, symbol) || matches_pattern(pattern, name) ||
        matches_pattern(pattern, base))
      return true;
  return false;
}

bool Selector::may_choose(const std::string& symbol) {
  auto [at, fresh] = matching_.try_emplace(symbol, false);
  if (fresh) at->second = matches_name(selection_, symbol);
  return at->second;
}

Choice Selector::choose(const Launch& launch) {
  if (!may_choose(launch.symbol)) return Choice::other_name;
  if (++matched_ <= selection_.skip) return Choice::skipped;
  if (!seen_.insert(key_of(launch)).second && !selection_.repeats) return Choice::repeated;
  if (selection_.count && examined_ >= selection_.count) return Choice::enough;
  ++examined_;
  return Choice::examine;
}

} // namespace assay::native
