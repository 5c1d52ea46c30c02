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
#include <memory>
#include <string>
#include <vector>

namespace assay::vgpu {

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

// Fills bytes with a pattern that a wrong use is likely to show: NaNs, small finite numbers, or
// small indices, depending on the position only.
void poison_fill(uint8_t* host, uint64_t size, Poison poison);

class Memory {
public:
  Memory(const JobSpec& job, Poison poison, const std::vector<bool>& tracked_inputs);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // The region of a global-memory address, or null. The caller checks bounds.
  Region* find(uint64_t address) {
    uint64_t w = address >> ir::kWindowBits;
    if (w - ir::kFirstBufferWindow < buffers_.size()) return &buffers_[w - ir::kFirstBufferWindow];
    if (w - ir::kFirstModuleWindow < globals_.size()) return &globals_[w - ir::kFirstModuleWindow];
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
  Poison poison_;
  std::vector<Region> buffers_, globals_;
  std::vector<std::string> names_;
  std::vector<std::vector<uint8_t>> storage_; // bytes and init bits, owned
  std::vector<std::vector<uint64_t>> init_storage_;
  const ptx::Module* module_ = nullptr;
};

} // namespace assay::vgpu
