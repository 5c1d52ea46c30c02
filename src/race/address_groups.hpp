// The lanes of an instruction by the location they access.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace assay::race {

class AddressGroups {
public:
  struct Group {
    uint64_t address;
    uint32_t lanes;
  };
  void collect(uint32_t lanes, const uint64_t* address);
  std::span<const Group> groups() const { return {groups_.data(), count_}; }
  uint64_t bits() const { return bits_; } // set in some address

private:
  static constexpr uint32_t kSlots = 64; // twice the lanes
  void add(uint64_t address, uint32_t lane);

  std::array<Group, 32> groups_;
  uint32_t count_ = 0;
  uint64_t bits_ = 0;
  std::array<uint8_t, kSlots> slots_{}; // group number + 1
};

// Ascending addresses, which is what most instructions have, need no table.
inline void AddressGroups::collect(uint32_t lanes, const uint64_t* address) {
  uint32_t n = 0;
  bits_ = 0;
  bool ascending = true;
  for (uint32_t m = lanes; m; m &= m - 1) {
    uint32_t l = uint32_t(std::countr_zero(m));
    bits_ |= address[l];
    bool same = n && address[l] == groups_[n - 1].address;
    ascending &= !n || address[l] >= groups_[n - 1].address;
    n += !same;
    groups_[n - 1].address = address[l];
    groups_[n - 1].lanes = (same ? groups_[n - 1].lanes : 0) | 1u << l;
  }
  count_ = n;
  if (ascending) return;
  count_ = 0;
  slots_.fill(0);
  for (uint32_t m = lanes; m; m &= m - 1) {
    uint32_t l = uint32_t(std::countr_zero(m));
    add(address[l], l);
  }
}

inline void AddressGroups::add(uint64_t address, uint32_t lane) {
  uint32_t slot = uint32_t(address * 0x9e3779b97f4a7c15ull >> 58);
  for (;; slot = (slot + 1) % kSlots) {
    if (!slots_[slot]) {
      groups_[count_] = {address, 1u << lane};
      slots_[slot] = uint8_t(++count_);
      return;
    }
    Group& g = groups_[slots_[slot] - 1u];
    if (g.address == address) {
      g.lanes |= 1u << lane;
      return;
    }
  }
}

} // namespace assay::race
