// What the conflict pass found: pairs of instructions of different threads that touched the same
// bytes, one of them writing. No order is known here: a pair that barriers keep apart looks like
// one that nothing orders. So a pair is no finding; it is a place where a delay may matter, and,
// once the result has changed, the likely reason.
#pragma once

#include "native/device_state.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace assay::native {

struct Conflict {
  uint32_t first = 0, second = 0; // instructions: index, site_count for code outside the kernel
  Scope scope = kWithinWarp;
  bool shared = false; // in shared memory; otherwise global
  bool atomic = false; // both atomic
  uint64_t count = 0, address = 0;
};

Conflict unpack(const PairSlot& slot);
// Filled slots, the widest scope first, then by count.
std::vector<Conflict> unpack_all(const std::vector<PairSlot>& slots);

struct ConflictMap {
  uint64_t counts[2][kScopes] = {}; // [shared][scope]
  std::vector<Conflict> pairs;
  bool complete = true; // false: the tables were too small
};
ConflictMap make_map(const std::vector<PairSlot>& slots, uint64_t cells_lost, uint64_t pairs_lost);

// Are all conflicts across warps between floating-point atomics? Then a difference is consistent
// with their order alone. `is_float` answers for an instruction.
template <class IsFloat> bool only_float_atomics(const ConflictMap& map, IsFloat is_float) {
  bool any = false;
  for (const Conflict& pair : map.pairs) {
    if (pair.scope == kWithinWarp && !pair.atomic) continue;
    if (!pair.atomic || !is_float(pair.first) || !is_float(pair.second)) return false;
    any = true;
  }
  return any && map.complete;
}

const char* scope_name(Scope scope);

} // namespace assay::native
