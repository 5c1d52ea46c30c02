// Device memory on the host: regions with exact bounds, an init bit per byte, and poison.
//
// A region is one buffer, one module variable, the parameter block, or one CTA's shared memory.
// Every access resolves to a region by the window of its address (ir/address_space.hpp) and is
// checked to the byte. `init` is null for regions that are wholly initialised, which is the fast
// case.
#pragma once

#include "race/access.hpp"
#include "vgpu/launch.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace assay::vgpu {

// Bytes from the start of a cache line on, so that rows of lanes do not straddle lines.
struct alignas(64) CacheLine {
  uint8_t bytes[64];
};
// Lines for `size` bytes with some to spare on both sides, since vector code may read whole rows
// past an end (bounds are checked exactly all the same); the first byte is at behind_slack().
inline constexpr uint64_t kSlack = 256;
inline std::vector<CacheLine> with_slack(uint64_t size) {
  return std::vector<CacheLine>((size + 63) / 64 + 2 * kSlack / 64 + 1);
}
inline uint8_t* behind_slack(std::vector<CacheLine>& lines) { return lines.data()->bytes + kSlack; }

struct Region {
  uint8_t* host = nullptr;
  uint64_t size = 0;
  uint64_t* init = nullptr; // a bit per byte, or null: all initialised
  uint64_t base = 0;        // first address (offset 0 of the buffer)
  bool tracked = false;     // its accesses go to the detector
  bool read_only = false;
  bool retrack_on_store =
      false;          // an input assumed unwritten: a store restarts the run with tracking
  uint32_t index = 0; // into Outcome::memory for buffers and module variables
  race::Space space = race::Space::global;
};

// True when the `bytes` bits from `offset` are all set.
inline bool init_test(const uint64_t* init, uint64_t offset, uint64_t bytes) {
  while (bytes) {
    uint64_t word = offset >> 6, shift = offset & 63, n = 64 - shift < bytes ? 64 - shift : bytes;
    uint64_t mask = (n == 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1) << shift;
    if ((init[word] & mask) != mask) return false;
    offset += n;
    bytes -= n;
  }
  return true;
}
inline void init_set(uint64_t* init, uint64_t offset, uint64_t bytes) {
  while (bytes) {
    uint64_t word = offset >> 6, shift = offset & 63, n = 64 - shift < bytes ? 64 - shift : bytes;
    init[word] |= (n == 64 ? ~uint64_t(0) : (uint64_t(1) << n) - 1) << shift;
    offset += n;
    bytes -= n;
  }
}
inline bool all_set(const uint64_t* init, uint64_t bytes) {
  for (uint64_t k = 0; k < bytes / 64; ++k)
    if (~init[k]) return false;
  return bytes % 64 == 0 || init_test(init, bytes / 64 * 64, bytes % 64);
}
// The same for at most 16 bytes that lie in one aligned group of 16.
inline bool init_test_small(const uint64_t* init, uint64_t offset, uint32_t bytes) {
  uint64_t mask = (uint64_t(1) << bytes) - 1;
  return !(~(init[offset >> 6] >> (offset & 63)) & mask);
}
inline void init_set_small(uint64_t* init, uint64_t offset, uint32_t bytes) {
  init[offset >> 6] |= ((uint64_t(1) << bytes) - 1) << (offset & 63);
}
// And for 32 bytes or a multiple of 64 from anywhere: words from the byte on that holds the first
// bit, then the bits that are left over. The bytes behind the last bit exist (initialisation bits
// have spare words).
template <uint64_t Bytes> bool init_test_long(const uint64_t* init, uint64_t offset) {
  static_assert(Bytes == 32 || Bytes % 64 == 0);
  const uint8_t* from = reinterpret_cast<const uint8_t*>(init) + (offset >> 3);
  const uint32_t shift = offset & 7;
  uint64_t first, all = ~uint64_t(0);
  std::memcpy(&first, from, 8);
  if (Bytes == 32) return uint32_t(first >> shift) == ~uint32_t(0);
  for (uint64_t k = 8; k < Bytes / 8; k += 8) {
    uint64_t word;
    std::memcpy(&word, from + k, 8);
    all &= word;
  }
  const uint32_t rest = ~uint32_t(from[Bytes / 8]) & ((1u << shift) - 1);
  return (~first >> shift | ~all | rest) == 0;
}
template <uint64_t Bytes> void init_set_long(uint64_t* init, uint64_t offset) {
  static_assert(Bytes == 32 || Bytes % 64 == 0);
  uint8_t* from = reinterpret_cast<uint8_t*>(init) + (offset >> 3);
  const uint32_t shift = offset & 7;
  uint64_t first;
  std::memcpy(&first, from, 8);
  first |= (Bytes == 32 ? ~uint64_t(0) >> 32 : ~uint64_t(0)) << shift;
  std::memcpy(from, &first, 8);
  if (Bytes == 32) return;
  for (uint64_t k = 8; k < Bytes / 8; k += 8) std::memset(from + k, 0xff, 8);
  from[Bytes / 8] = uint8_t(from[Bytes / 8] | ((1u << shift) - 1));
}

// Fills bytes with a pattern that a wrong use is likely to show: NaNs, small finite numbers, or
// small indices, depending on the position only.
void poison_fill(uint8_t* host, uint64_t size, Poison poison);
uint8_t poison_byte(uint64_t offset, Poison poison); // at this place of a fill
inline Poison poison_of_memory(const RunOptions& options) {
  return options.vary.pc == ir::kNoIndex ? options.poison : Poison::nan_like;
}

class Memory {
public:
  Memory(const JobSpec& job, Poison poison, const std::vector<bool>& tracked_inputs);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // The region of a global-memory address, or null. The caller checks bounds.
  Region* find(uint64_t address) {
    uint64_t w = address >> ir::kWindowBits;
    if (w - ir::kFirstBufferWindow < buffer_count_)
      return &first_buffer_[w - ir::kFirstBufferWindow];
    if (w - ir::kFirstModuleWindow < global_count_)
      return &first_global_[w - ir::kFirstModuleWindow];
    return nullptr;
  }
  uint64_t buffer_address(uint32_t buffer) const { return buffers_[buffer].base; }
  const std::string& name(const Region& region) const { return names_[region.index]; }
  // Makes the module variables of a program exist (once per module).
  void load_module(const ir::Program& program);
  // Every region, buffers first; index = Region::index.
  std::vector<Region*> regions();
  void export_to(Outcome& outcome);

private:
  Region make(uint64_t base, uint64_t size, const std::vector<uint8_t>* data, Poison poison);
  Region* first_buffer_ = nullptr; // of buffers_, for find
  uint64_t buffer_count_ = 0;
  Region* first_global_ = nullptr; // and of globals_
  uint64_t global_count_ = 0;
  Poison poison_;
  std::vector<Region> buffers_, globals_;
  std::vector<std::string> names_;
  std::vector<std::vector<CacheLine>> storage_; // bytes and init bits, owned
  std::vector<std::vector<uint64_t>> init_storage_;
  const ptx::Module* module_ = nullptr;
};

} // namespace assay::vgpu
