// The list of conflicts found, each distinct one with a few instances that exploration can try.
// Distinct means (kind, unordered pcs, space, distance of the agents: warp, CTA or grid).
#pragma once

#include "race/access.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace assay::race {

enum class Distance : uint8_t { warp, cta, grid };
inline Distance distance(const Agent& a, const Agent& b) {
  return a.cta != b.cta ? Distance::grid : a.warp != b.warp ? Distance::cta : Distance::warp;
}

class Conflicts {
public:
  Conflicts(uint32_t last_cta, uint32_t limit) : last_cta_(last_cta), limit_(limit) {}
  void add(const Conflict& conflict);
  const std::vector<Conflict>& list() const; // grouped, in order of first detection
  const std::vector<uint64_t>& counts() const { return list(), counts_; }
  bool overflowed() const { return overflowed_; }

private:
  struct Key {
    uint64_t pcs, rest;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& k) const;
  };
  struct Group {
    uint64_t count = 0, best = UINT64_MAX;
    Conflict first, last, picked;     // picked: the one with the smallest hash
    std::optional<Conflict> boundary; // first one that touches the launch's last CTA
  };
  uint32_t last_cta_, limit_;
  bool overflowed_ = false;
  std::unordered_map<Key, uint32_t, KeyHash> index_;
  std::vector<Group> groups_;
  Key recent_{~0ull, ~0ull};
  uint32_t recent_group_ = 0;
  mutable bool fresh_ = true;
  mutable std::vector<Conflict> list_;
  mutable std::vector<uint64_t> counts_;
};

} // namespace assay::race
