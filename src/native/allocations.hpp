// The process's allocations that a kernel may reach, and what is known of each.
#pragma once

#include "native/device_state.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace assay::native {

enum Trait : uint32_t {
  kModuleMemory = 1, // variables of a module
  kManaged = 2,      // migrates between host and device
  kHostMapped = 4,   // lies in host memory, or the host can reach it
  kPeer = 8,         // lies on another device
  kExported = 16,    // another process can reach it (IPC, shareable handles)
  kImported = 32,    // belongs to another process
  kMulticast = 64,   // bound to a multicast object
  kRuntime = 128,    // of the CUDA runtime itself (barriers of cooperative groups)
  kMapped = 256      // mapped piece by piece (cuMemMap): neighbours are one allocation
};

struct Allocation {
  uint64_t address = 0, size = 0;
  uint32_t traits = 0;
  uint64_t context = 0; // 0: any
  uint64_t end() const { return address + size; }
};

// Why memory with these traits must not be replayed over, or empty. Rule 1: what a launch can write
// must be private to this process and this device.
std::string not_private(uint32_t traits);

class AllocationTable {
public:
  // What it overlaps is gone. A mapped piece joins its neighbours of the same kind: a tensor may
  // lie across several, as with PyTorch's expandable segments. What lies within mapped memory is
  // known.
  void add(const Allocation& allocation);
  bool remove(uint64_t address);
  // Takes a range out of mapped memory; what is left on either side stays.
  void unmap(uint64_t begin, uint64_t end);
  // Adds traits to the allocation that holds this address.
  bool mark(uint64_t address, uint32_t traits);
  const Allocation* find(uint64_t address) const;
  std::vector<Allocation> all() const; // by address
  size_t size() const { return allocations_.size(); }

private:
  void join(uint64_t address);

  std::map<uint64_t, Allocation> allocations_;
};

// Indices into `sorted` (by address) that some word of the arguments points into. A word may stand
// at any multiple of four bytes: structures are passed by value, and the first word of a tensor map
// is an address. The end of an allocation counts as well: begin/end pairs are common.
std::vector<size_t> pointed_into(const std::vector<uint8_t>& arguments,
                                 const std::vector<Allocation>& sorted);

// Sorted and disjoint, neighbours joined: what the stray-store check searches.
std::vector<AddressRange> joined_ranges(std::vector<Allocation> allocations);

} // namespace assay::native
