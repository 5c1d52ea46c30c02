// Conflicts unpacked and counted; see conflicts.hpp.
#include "native/conflicts.hpp"

#include <algorithm>

namespace assay::native {

Conflict unpack(const PairSlot& slot) {
  Conflict out;
  out.first = uint32_t(slot.key) & kSiteMask;
  out.second = uint32_t(slot.key >> kPairSecondBit) & kSiteMask;
  out.atomic = slot.key >> kPairAtomicBit & 1;
  out.scope = Scope(slot.key >> kPairScopeBit & 3);
  out.shared = slot.key >> kPairSharedBit & 1;
  out.count = slot.count;
  out.address = slot.address;
  return out;
}

std::vector<Conflict> unpack_all(const std::vector<PairSlot>& slots) {
  std::vector<Conflict> out;
  for (const PairSlot& slot : slots)
    if (slot.key >> kPairValidBit) out.push_back(unpack(slot));
  std::sort(out.begin(), out.end(), [](const Conflict& a, const Conflict& b) {
    if (a.scope != b.scope) return a.scope > b.scope;
    if (a.count != b.count) return a.count > b.count;
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  return out;
}

ConflictMap make_map(const std::vector<PairSlot>& slots, uint64_t cells_lost, uint64_t pairs_lost) {
  ConflictMap map;
  map.pairs = unpack_all(slots);
  for (const Conflict& pair : map.pairs)
    if (pair.scope < kScopes) map.counts[pair.shared][pair.scope] += pair.count;
  map.complete = cells_lost == 0 && pairs_lost == 0;
  return map;
}

const char* scope_name(Scope scope) {
  switch (scope) {
  case kWithinWarp: return "within a warp";
  case kWithinBlock: return "between warps of a block";
  default: return "between blocks";
  }
}

} // namespace assay::native
