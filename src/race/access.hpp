// What the detector is told about memory: the vocabulary between vgpu and race. race knows nothing
// of programs or warps' registers; a `pc` is an operation index that only the caller can resolve.
#pragma once

#include <cstdint>

namespace assay::race {

enum class Space : uint8_t { global, shared, local };
enum class Scope : uint8_t { none, cta, cluster, gpu, sys };

// Who accesses. Ordinary agents are warps; asynchronous copies get agents of their own.
struct Agent {
  uint32_t cta = 0; // linear CTA index in the launch
  // Warp index in the CTA. Copies: kCopyAgent + 32·(number of the instruction in the CTA) + lane;
  // the agent of lane 0 may stand for all lanes of the instruction in one access.
  uint32_t warp = 0;
  bool operator==(const Agent&) const = default;
};
inline constexpr uint32_t kCopyAgent = 0x10000;

struct AccessInfo {
  uint32_t pc = 0; // operation index
  bool write = false;
  bool read = true;          // a read-modify-write is both
  bool atomic = false;       // atom, red
  bool strong = false;       // volatile, relaxed, acquire, release, atomics
  bool nc = false;           // non-coherent load
  bool silent = false;       // writes: the bytes did not change
  Scope scope = Scope::none; // of strong accesses
  uint8_t bytes = 4;         // per lane, contiguous: 1 … 32 (vectors count as one access)
  uint8_t elements = 1;      // of a vector; a strong one is as many operations (PTX ISA 9.0, 8.2.4)

  uint8_t element_bytes() const { return uint8_t(bytes / elements); }
};

// An AccessInfo in 16 bits, but for the pc.
enum AttributeBits : uint16_t {
  kWrite = 1,
  kRead = 2,
  kAtomic = 4,
  kStrong = 8,
  kNonCoherent = 16,
  kSilent = 32,
  kScopeShift = 6,  // three bits
  kAffine = 512,    // lane l is at start + l·bytes; else every lane is at start
  kCopy = 1024,     // `warps` is the number of a group of asynchronous copies
  kBytesShift = 11, // five bits: bytes − 1
};

// The same for a weak access of `bytes` bytes a lane.
constexpr uint16_t weak_attributes(bool write, bool silent, uint32_t bytes) {
  return uint16_t((write ? kWrite : kRead) | (silent ? kSilent : 0) | (bytes - 1) << kBytesShift);
}

// One side of a race, with enough to find it in another run.
struct Side {
  Agent agent;
  uint32_t lane = 0;
  AccessInfo info;
  uint32_t time = 0; // the lane's clock: with pc and address it names the instance
  uint32_t grid = 0; // which of the detector's grids it belongs to: whose operation `pc` is
};

// What the order of two morally strong accesses may change, as far as they themselves tell.
enum class Stake : uint8_t {
  bytes,  // the later one changed what the earlier one left
  values, // what is read, or nobody knows
  none,   // nothing: the bits stay as they are
};

struct Conflict {
  enum class Kind : uint8_t {
    race,
    value_race,       // both writes store the same bits
    same_instruction, // two lanes of one instruction write different values to one byte
    order,            // morally strong, unordered: no defect in itself
  };
  Kind kind = Kind::race;
  Side first, second; // in execution order
  Space space = Space::global;
  uint32_t space_cta = 0;      // owning CTA of shared memory
  uint64_t address = 0;        // first overlapping byte: window address (global), offset (shared)
  uint32_t bytes = 1;          // overlapping bytes
  Stake stake = Stake::values; // of an order conflict
};

} // namespace assay::race
