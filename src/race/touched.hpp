// Which bytes of global memory a run read and wrote, where somebody wants to know: by window, a bit
// for each byte.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace assay::race {

class Touched {
public:
  void note(uint64_t address, uint32_t bytes, bool write) {
    std::vector<bool>& bits = (write ? written_ : read_)[address >> 40];
    const uint64_t from = address & ((uint64_t(1) << 40) - 1);
    if (bits.size() < from + bytes) bits.resize(from + bytes + bits.size() / 2);
    std::fill_n(bits.begin() + int64_t(from), bytes, true);
  }
  // Did it read nothing that `other` did not touch, and write nothing that it did not write?
  bool within(const Touched& other) const {
    auto known = [](const Bits& all, uint64_t window, size_t at) {
      auto found = all.find(window);
      return found != all.end() && at < found->second.size() && found->second[at];
    };
    for (const auto* own : {&read_, &written_})
      for (const auto& [window, bits] : *own)
        for (size_t at = 0; at < bits.size(); ++at)
          if (bits[at] && !known(other.written_, window, at) &&
              (own == &written_ || !known(other.read_, window, at)))
            return false;
    return true;
  }

private:
  using Bits = std::map<uint64_t, std::vector<bool>>;
  Bits read_, written_;
};

} // namespace assay::race
