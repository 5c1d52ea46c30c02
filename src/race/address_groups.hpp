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
  uint64_t last = address[std::countr_zero(lanes)];
  bool strictly = true, ascending = true;
  bits_ = last;
  count_ = 0;
  groups_[count_++] = {last, lanes & (0u - lanes)};
  for (uint32_t m = lanes & (lanes - 1); m; m &= m - 1) {
    uint32_t l = uint32_t(std::countr_zero(m));
    uint64_t a = address[l];
    strictly &= a > last;
    ascending &= a >= last;
    bits_ |= a;
    last = a;
    groups_[count_++] = {a, 1u << l};
  }
  if (strictly) return;
  uint32_t n = count_;
  count_ = 0;
  if (ascending) {
    for (uint32_t i = 0; i < n; ++i) {
      Group g = groups_[i];
      if (count_ && g.address == groups_[count_ - 1].address)
        groups_[count_ - 1].lanes |= g.lanes;
      else
        groups_[count_++] = g;
    }
    return;
  }
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
