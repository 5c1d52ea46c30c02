// The table of allocations; see allocations.hpp.
#include "native/allocations.hpp"

#include <algorithm>
#include <cstring>

namespace assay::native {

std::string not_private(uint32_t traits) {
  if (traits & kImported) return "memory of another process (IPC)";
  if (traits & kExported) return "memory that other processes can reach";
  if (traits & kMulticast) return "multicast memory";
  if (traits & kPeer) return "memory of another device";
  if (traits & kManaged) return "managed memory, which the host can reach at any time";
  if (traits & kHostMapped) return "host memory";
  return "";
}

void AllocationTable::add(const Allocation& allocation) {
  if (allocation.size == 0) return;
  const Allocation* around = find(allocation.address);
  if (around && (around->traits & kMapped) && allocation.end() <= around->end()) {
    allocations_[around->address].traits |= allocation.traits;
    return;
  }
  auto at = allocations_.lower_bound(allocation.address);
  if (at != allocations_.begin() && std::prev(at)->second.end() > allocation.address)
    at = std::prev(at);
  while (at != allocations_.end() && at->second.address < allocation.end())
    at = allocations_.erase(at);
  allocations_[allocation.address] = allocation;
  if (allocation.traits & kMapped) join(allocation.address);
}

void AllocationTable::join(uint64_t address) {
  auto at = allocations_.find(address);
  const auto alike = [](const Allocation& a, const Allocation& b) {
    return a.end() == b.address && a.traits == b.traits && a.context == b.context;
  };
  if (at != allocations_.begin() && alike(std::prev(at)->second, at->second)) {
    auto before = std::prev(at);
    before->second.size += at->second.size;
    allocations_.erase(at);
    at = before;
  }
  if (auto next = std::next(at); next != allocations_.end() && alike(at->second, next->second)) {
    at->second.size += next->second.size;
    allocations_.erase(next);
  }
}

void AllocationTable::unmap(uint64_t begin, uint64_t end) {
  auto at = allocations_.upper_bound(begin);
  if (at != allocations_.begin()) --at;
  while (at != allocations_.end() && at->first < end) {
    const Allocation old = at->second;
    ++at;
    if (!(old.traits & kMapped) || old.end() <= begin) continue;
    allocations_.erase(old.address);
    Allocation rest = old;
    rest.size = begin > old.address ? begin - old.address : 0;
    if (rest.size) allocations_[rest.address] = rest;
    if (old.end() > end) {
      rest.address = end;
      rest.size = old.end() - end;
      allocations_[end] = rest;
    }
  }
}

bool AllocationTable::remove(uint64_t address) {
  auto at = allocations_.find(address);
  if (at == allocations_.end() || (at->second.traits & kMapped)) return false; // see unmap
  allocations_.erase(at);
  return true;
}

const Allocation* AllocationTable::find(uint64_t address) const {
  auto at = allocations_.upper_bound(address);
  if (at == allocations_.begin()) return nullptr;
  const Allocation& found = std::prev(at)->second;
  return address < found.end() ? &found : nullptr;
}

bool AllocationTable::mark(uint64_t address, uint32_t traits) {
  const Allocation* found = find(address);
  if (!found) return false;
  allocations_[found->address].traits |= traits;
  return true;
}

std::vector<Allocation> AllocationTable::all() const {
  std::vector<Allocation> out;
  out.reserve(allocations_.size());
  for (const auto& [address, allocation] : allocations_) out.push_back(allocation);
  return out;
}

std::vector<size_t> pointed_into(const std::vector<uint8_t>& arguments,
                                 const std::vector<Allocation>& sorted) {
  std::vector<bool> hit(sorted.size());
  for (size_t at = 0; at + 8 <= arguments.size(); at += 4) {
    uint64_t word;
    std::memcpy(&word, &arguments[at], 8);
    auto next = std::upper_bound(
        sorted.begin(), sorted.end(), word,
        [](uint64_t value, const Allocation& allocation) { return value < allocation.address; });
    // The one that holds the word, and the one that ends there.
    for (int back = 0; back < 2 && next != sorted.begin(); ++back) {
      --next;
      if (word <= next->end()) hit[size_t(next - sorted.begin())] = true;
    }
  }
  std::vector<size_t> out;
  for (size_t i = 0; i < hit.size(); ++i)
    if (hit[i]) out.push_back(i);
  return out;
}

std::vector<AddressRange> joined_ranges(std::vector<Allocation> allocations) {
  std::sort(allocations.begin(), allocations.end(),
            [](const Allocation& a, const Allocation& b) { return a.address < b.address; });
  std::vector<AddressRange> out;
  for (const Allocation& allocation : allocations) {
    if (!out.empty() && out.back().end >= allocation.address)
      out.back().end = std::max(out.back().end, allocation.end());
    else
      out.push_back({allocation.address, allocation.end()});
  }
  return out;
}

} // namespace assay::native
