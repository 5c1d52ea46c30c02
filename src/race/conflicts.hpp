// The list of conflicts found, each distinct one with a few instances that exploration can try.
// Distinct means (kind, unordered operations, space, distance of the agents: warp, CTA or grid).
#pragma once

#include "race/access.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
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
  // Is there no need to describe another instance of this one? Order conflicts, which no kernel
  // with hot atomics can avoid, are only sampled once there are many.
  struct Operation {
    uint32_t pc, grid;
  };
  bool enough(Conflict::Kind kind, Operation a, Operation b, Space space, Distance distance,
              Stake stake) {
    if (kind != Conflict::Kind::order) return false;
    Key key = key_of(kind, a, b, space, distance);
    const Recent& r = recent_[slot(key)];
    if (!(r.key == key) || groups_[r.group].count < kMany) return false;
    if (uint64_t(stake) < groups_[r.group].best >> kStakeShift) return false;
    return ++groups_[r.group].count % kSample != 0;
  }
  const std::vector<Conflict>& list() const; // grouped, in order of first detection
  const std::vector<uint64_t>& counts() const { return list(), counts_; }
  bool overflowed() const { return overflowed_; }

private:
  struct Key {
    uint64_t pcs, rest;
    bool operator==(const Key&) const = default;
  };
  static Key key_of(Conflict::Kind kind, Operation a, Operation b, Space space, Distance distance) {
    if (b.pc < a.pc || (b.pc == a.pc && b.grid < a.grid)) std::swap(a, b);
    return {uint64_t(a.pc) << 32 | b.pc, uint64_t(a.grid) << 44 | uint64_t(b.grid) << 24 |
                                             uint64_t(kind) << 16 | uint64_t(space) << 8 |
                                             uint64_t(distance)};
  }
  static uint32_t slot(const Key& k) {
    return uint32_t((k.pcs ^ k.rest << 7) * 0x9e3779b97f4a7c15ull >> 60);
  }
  static constexpr uint64_t kMany = 256, kSample = 64;
  static constexpr uint32_t kStakeShift = 62; // in `best`
  struct KeyHash {
    size_t operator()(const Key& k) const;
  };
  struct Group {
    uint64_t count = 0, best = UINT64_MAX;
    Conflict first, last, picked;     // picked: of the highest stake the one with the smallest hash
    std::optional<Conflict> boundary; // first one that touches the launch's last CTA
  };
  uint32_t last_cta_, limit_;
  bool overflowed_ = false;
  std::unordered_map<Key, uint32_t, KeyHash> index_;
  std::vector<Group> groups_;
  struct Recent {
    Key key{~0ull, ~0ull};
    uint32_t group = 0;
  };
  std::array<Recent, 16> recent_;
  mutable bool fresh_ = true;
  mutable std::vector<Conflict> list_;
  mutable std::vector<uint64_t> counts_;
};

} // namespace assay::race
