// What the patched code of a kernel reads and writes in device memory, laid out the same for the
// host (g++) and for the device (nvcc). One DeviceState serves one run of one launch; the host
// fills it before the run and reads it after. No standard library: the device compiler includes
// this file.
#pragma once

#include <stdint.h>

namespace assay::native {

// Kinds of instructions that are counted. Each is one class of the Compute Sanitizer API, or a few
// that mean the same here.
enum Counter : uint32_t {
  kGlobalReads,
  kGlobalWrites,
  kGlobalAtomics,
  kSharedReads,
  kSharedWrites,
  kSharedAtomics,
  kRemoteShared,   // another block's shared memory, within a cluster
  kMatrixShared,   // ldmatrix, stmatrix
  kAsyncCopies,    // cp.async
  kBulkLoads,      // cp.async.bulk towards shared memory
  kBulkStores,     // cp.async.bulk and its reductions towards global memory
  kWarpgroupMma,   // wgmma reads shared memory through descriptors
  kAsyncStores,    // st.async and red.async
  kBarriers,       // bar.sync and its kin
  kMbarriers,      // operations on barriers in memory
  kLocalAccesses,  // a thread's own memory: observed, never perturbed
  kGlobalGranules, // pieces of four bytes that accesses touch
  kSharedGranules,
  kCounters
};

// What to do before an access. A delay must differ between blocks or between warps: one that all
// share would only mask a race.
enum Action : uint8_t { kNothing = 0, kDelayByBlock = 1, kDelayByWarp = 2 };

// What is known of one instruction of the kernel.
enum SiteFlag : uint32_t {
  kSiteGlobal = 1,
  kSiteShared = 2,
  kSiteReads = 4,
  kSiteWrites = 8,
  kSiteAtomic = 16,
  kSiteAsync = 32,
  kSiteSync = 64 // a barrier, or an operation of which no patch sees the bytes
};

struct Site {
  uint64_t lanes; // how often, summed over lanes
  uint32_t flags;
  uint32_t unused;
};

struct AddressRange {
  uint64_t begin, end;
};

// One granule of four bytes in the conflict pass, with its last write and two reads that differ in
// warp or block. A word of 0 is nobody; otherwise see the fields below.
struct Cell {
  unsigned long long key;
  unsigned long long write, read, other_read;
};
// A word: bytes 4 | atomic 1 | site 20 | thread 10 | block 28 | valid 1, lowest first.
constexpr uint32_t kAtomicBit = 4, kSiteBit = 5, kThreadBit = 25, kBlockBit = 35, kValidBit = 63;
constexpr uint32_t kSiteMask = (1u << 20) - 1, kThreadMask = (1u << 10) - 1;
constexpr uint32_t kBlockMask = (1u << 28) - 1;

enum Scope : uint32_t { kWithinWarp = 0, kWithinBlock = 1, kAcrossBlocks = 2, kScopes = 3 };

// A pair of instructions that touched the same bytes from different threads, at least one writing.
struct PairSlot {
  unsigned long long key; // valid 1 | shared 1 | scope 2 | both atomic 1 | second 20 | first 20
  unsigned long long count;
  unsigned long long address;
};
constexpr uint32_t kPairSecondBit = 20, kPairAtomicBit = 40, kPairScopeBit = 41;
constexpr uint32_t kPairSharedBit = 43, kPairValidBit = 63;

struct DeviceState {
  // The kernel's code: instruction i begins at code_begin + 16 * i. Slot site_count serves all code
  // outside (functions that were not inlined).
  uint64_t code_begin;
  uint32_t site_count;
  uint32_t counting; // 1: fill counters, sites and stray stores
  Site* sites;
  const uint8_t* actions; // null: no delays
  uint32_t seed;
  uint32_t cycles;      // a delay lasts less than this many
  uint32_t probability; // of 65536
  uint32_t blocks_hit;  // of 65536: blocks whose accesses may be delayed
  // Where global stores may go: sorted, disjoint. A store elsewhere could not be undone.
  const AddressRange* writable;
  uint32_t writable_count;
  uint32_t first_stray_site;
  unsigned long long stray_stores, first_stray, lowest_stray, highest_stray;
  unsigned long long counters[kCounters];
  unsigned long long delayed, delay_cycles; // warps' accesses delayed, cycles they waited
  // Conflict pass.
  Cell* cells; // null: no conflict pass
  uint64_t cell_mask;
  PairSlot* pairs;
  uint32_t pair_mask;
  uint32_t shared_blocks; // of 65536: blocks whose shared memory is looked at
  unsigned long long cells_lost, pairs_lost;
  // Lanes of a warp that stored different values to one address by one instruction: how often, and
  // the first such instruction.
  unsigned long long clashes;
  uint32_t clash_site;
  // Blocks that the conflict pass looks at: block b if (b * trace_factor) % trace_total is less
  // than trace_blocks. trace_total 0: all.
  uint32_t trace_blocks, trace_total, trace_factor;
  uint32_t line_share; // of 65536: lines of global memory that it looks at; 0: all
  // Refill of a block's shared memory before its first instruction; a word for each of the first
  // refill_blocks blocks: 0 nobody has begun, 1 one warp fills, 2 done. Null: no refill.
  uint32_t refill_blocks;
  uint32_t* refill_flags;
  uint32_t refill_pattern;
};

} // namespace assay::native
