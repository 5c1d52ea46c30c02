// Memory that belongs to the CUDA runtime: the workspace of cooperative launches and the device
// heap. Sources: cooperative_groups.h of CUDA 13.0 (grid_workspace); CUDA C++ Programming Guide,
// "Dynamic Global Memory Allocation and Operations" (a heap of 8 MB, aligned to 16 bytes, null when
// it is full).
//
// Heap blocks are placed by the thread that asks for them, each thread's in a window of its own, so
// that addresses do not follow the schedule. A real heap's do: nothing is proved of kernels that
// allocate. No address is used twice.
#pragma once

#include "vgpu/memory.hpp"

#include <map>

namespace assay::vgpu {

// Windows (ir/address_space.hpp) that no buffer and no variable has.
inline constexpr uint64_t kWorkspaceWindow = 5, kFirstHeapWindow = 0x10000, kHeapWindows = 0xfe0000;
inline constexpr uint64_t kHeapBytes = 8 << 20;

struct HeapBlock {
  Region region;
  bool freed = false;
  uint32_t launch = 0, pc = 0; // that freed it
  std::vector<CacheLine> storage;
  std::vector<uint64_t> init;
};

class RuntimeMemory {
public:
  explicit RuntimeMemory(size_t launches);
  RuntimeMemory(const RuntimeMemory&) = delete;
  // Address of what a cooperative launch has of it.
  uint64_t workspace(uint32_t launch) const { return workspace_.base + launch * kWorkspaceBytes; }
  // The region that an address belongs to or lies behind; null: none. `block`: of the heap.
  Region* find(uint64_t address, HeapBlock*& block);
  // A new block of the thread, counted through all launches; null: the heap is full.
  HeapBlock* allocate(uint64_t thread, uint64_t bytes, Poison poison);
  HeapBlock* at(uint64_t address); // that begins there
  void release(HeapBlock& block) { block.freed = true, used_ -= block.region.size; }
  std::vector<Region*> regions(); // of blocks that live
  const std::string& name(const Region& region) const;

private:
  Region workspace_;
  static constexpr uint32_t kWorkspaceBytes = 64;
  std::vector<CacheLine> workspace_lines_;
  std::map<uint64_t, HeapBlock> blocks_; // by address
  std::map<uint64_t, uint64_t> next_;    // by thread: offset in its window
  uint64_t used_ = 0;
};

} // namespace assay::vgpu
