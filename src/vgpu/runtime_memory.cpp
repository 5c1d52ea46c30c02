// The workspace of cooperative launches and the device heap; see runtime_memory.hpp.
#include "vgpu/runtime_memory.hpp"

namespace assay::vgpu {

RuntimeMemory::RuntimeMemory(size_t launches)
    : workspace_lines_(with_slack(launches * kWorkspaceBytes)) {
  workspace_.host = behind_slack(workspace_lines_);
  workspace_.size = launches * kWorkspaceBytes;
  workspace_.base = ir::window_base(kWorkspaceWindow) + 0x100;
  workspace_.tracked = true;
}

Region* RuntimeMemory::find(uint64_t address, HeapBlock*& block) {
  block = nullptr;
  uint64_t window = ir::window_of(address);
  if (window == kWorkspaceWindow) return &workspace_;
  if (window < kFirstHeapWindow || blocks_.empty()) return nullptr;
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  --after;
  if (ir::window_of(after->first) != window) return nullptr;
  block = &after->second;
  return &block->region;
}

HeapBlock* RuntimeMemory::allocate(uint64_t thread, uint64_t bytes, Poison poison) {
  if (!bytes || bytes > kHeapBytes || used_ + bytes > kHeapBytes) return nullptr;
  uint64_t& next = next_.try_emplace(thread, 0x100).first->second;
  uint64_t base = ir::window_base(kFirstHeapWindow + thread % kHeapWindows) + next;
  next += (bytes + 0xfff) & ~uint64_t(0xfff); // far from the next one
  HeapBlock& b = blocks_[base];
  b.storage = with_slack(bytes);
  b.init.assign((bytes + 63) / 64 + 8, 0);
  b.region.host = behind_slack(b.storage);
  poison_fill(b.region.host, bytes, poison);
  b.region.size = bytes;
  b.region.init = b.init.data();
  b.region.base = base;
  b.region.tracked = true;
  used_ += bytes;
  return &b;
}

HeapBlock* RuntimeMemory::at(uint64_t address) {
  auto it = blocks_.find(address);
  return it == blocks_.end() ? nullptr : &it->second;
}

std::vector<Region*> RuntimeMemory::regions() {
  std::vector<Region*> all = {&workspace_};
  for (auto& [address, block] : blocks_)
    if (!block.freed) all.push_back(&block.region);
  return all;
}

const std::string& RuntimeMemory::name(const Region& region) const {
  static const std::string kWorkspace = "the runtime's grid barrier", kHeap = "a block of the heap";
  return &region == &workspace_ ? kWorkspace : kHeap;
}

} // namespace assay::vgpu
