// Spinning: a group that polls a location in vain gains nothing by another turn before the location
// changes. Agents that stand so are passed over, which keeps locks and grid barriers among a
// thousand agents affordable; docs/concurrency.md, "Progress".
//
// A group spins when the same strong reads of the same lanes find the same values a third time,
// with the same registers and local memory, and it changed no other byte meanwhile. That its other
// loads may have found something new, and that it waits for virtual time, is why it is passed over
// only so often.
#include "base/hash.hpp"
#include "vgpu/machine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace assay::vgpu {

namespace {
constexpr uint32_t kFirstPatience = 16, kMostPatience = 4096; // picks that pass it over in a row
constexpr size_t kMostLocal = 8192; // words of a lane's local memory that are hashed each turn

uint64_t hash_of(const Warp& w, const Group& g) {
  uint64_t frame = uint64_t(g.regs_base) << 32 | g.frames.size();
  uint64_t local = hash64(w.local.data(), w.local.size() * sizeof w.local[0], frame);
  return hash64(w.registers.data(), w.registers.size() * sizeof w.registers[0], local);
}
} // namespace

void Machine::polled(Warp& w, uint32_t pc, uint32_t lanes, const uint8_t* const* cells,
                     uint32_t bytes) {
  if (!lanes || bytes > sizeof Poll::Cell::value) return;
  Group& g = *w.group;
  if (!g.poll) g.poll = std::make_unique<Poll>();
  Poll& p = *g.poll;
  bool same = p.pc == pc && p.lanes == lanes && p.bytes == bytes && !w.stored;
  w.progressed |= w.stored;
  w.stored = false;
  p.cells.resize(uint32_t(__builtin_popcount(lanes)));
  size_t k = 0;
  for (uint32_t m = lanes; m; m &= m - 1, ++k) {
    const uint8_t* at = cells[__builtin_ctz(m)];
    Poll::Cell& c = p.cells[k];
    same &= c.at == at && !std::memcmp(c.value, at, bytes);
    c.at = at;
    std::memcpy(c.value, at, bytes);
  }
  if (!same || w.local.size() > kMostLocal) {
    p.pc = pc;
    p.lanes = lanes;
    p.bytes = bytes;
    p.turns = 0;
    p.spinning = false;
    p.skipped = 0;
    p.patience = kFirstPatience;
    return;
  }
  ++vain_polls;
  // Brent's way to notice that a sequence has become periodic.
  uint64_t state = hash_of(w, g);
  if (p.turns++ == 0 || state != p.state) {
    if (std::has_single_bit(p.turns)) p.state = state;
    return;
  }
  p.spinning = spinning = true;
  w.quantum_left = 0; // the slice ends at the loop's back edge
}

bool Machine::in_vain(schedule::AgentId id) {
  if (id.unit >= schedule::kCopyUnit) return false;
  uint32_t lane = id.unit % 32;
  for (Group& g : table.find(id.cta)->warps[id.unit / 32]->groups) {
    if (g.state != GroupState::ready || !(g.lanes >> lane & 1)) continue;
    if (!g.poll || !g.poll->spinning) return false;
    Poll& p = *g.poll;
    for (const Poll::Cell& c : p.cells)
      if (std::memcmp(c.value, c.at, p.bytes) != 0) return false;
    if (p.skipped++ < p.patience) return true;
    p.skipped = 0;
    p.patience = std::min(p.patience * 2, kMostPatience);
    return false;
  }
  return false;
}

uint32_t Machine::pass_over(uint32_t pick) {
  uint32_t n = runnable.size();
  for (uint32_t k = 0; k < n; ++k) {
    uint32_t at = pick + k < n ? pick + k : pick + k - n;
    if (!in_vain(runnable[at])) return at;
  }
  return n;
}

} // namespace assay::vgpu
