// Which launches are examined: by name, after the first few, at most so many, each distinct one
// once. Option names and meanings follow NVIDIA's tools: --launch-skip and --launch-count count
// launches whose name matches.
#pragma once

#include "native/launch.hpp"

#include <map>
#include <set>

namespace assay::native {

struct Selection {
  std::vector<std::string> names; // patterns with * and ?; none: every kernel
  uint64_t skip = 0;
  uint64_t count = 0;   // 0: no limit
  bool repeats = false; // examine every matching launch, not only distinct ones
};

// Does the pattern match the whole text? '*' stands for any letters, '?' for one.
bool matches_pattern(const std::string& pattern, const std::string& text);
// By symbol, demangled name, or base name.
bool matches_name(const Selection& selection, const std::string& symbol);

enum class Choice { other_name, skipped, repeated, enough, examine };

class Selector {
public:
  explicit Selector(Selection selection) : selection_(std::move(selection)) {}
  // To be asked once for each launch, in order.
  Choice choose(const Launch& launch);
  // Cheap and without side effects: could a launch of this symbol be examined now?
  bool may_choose(const std::string& symbol);

private:
  Selection selection_;
  std::map<std::string, bool> matching_; // by symbol
  std::set<std::string> seen_;           // keys
  uint64_t matched_ = 0, examined_ = 0;
};

} // namespace assay::native
