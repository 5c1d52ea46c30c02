// Device code that the Compute Sanitizer API calls before the instructions of a patched kernel.
// Compiled with --compile-as-tools-patch: it keeps the kernel's registers as they are. Userdata is the
// DeviceState of the run, or null for a launch that nobody examines. Facts behind this code
// (measured on an H200, driver 580): per-lane delays change nothing inside a warp, since it
// reconverges around a patch; delays by warp and by block do.
#include "../device_state.hpp"

#include <sanitizer_patching.h>

using namespace assay::native;

namespace {

__device__ __forceinline__ uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

__device__ __forceinline__ uint32_t lane() {
  uint32_t value;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(value));
  return value;
}

__device__ __forceinline__ uint32_t block_number() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

__device__ __forceinline__ uint32_t thread_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ __forceinline__ bool leads(unsigned active) {
  return lane() == uint32_t(__ffs(active) - 1);
}

__device__ __forceinline__ uint32_t site_of(const DeviceState* s, uint64_t pc) {
  const uint64_t index = (pc - s->code_begin) >> 4;
  return pc >= s->code_begin && index < s->site_count ? uint32_t(index) : s->site_count;
}

__device__ __forceinline__ void count(DeviceState* s, uint32_t counter, uint32_t weight = 1) {
  if (!s || !s->counting) return;
  const unsigned active = __activemask();
  if (leads(active)) atomicAdd(&s->counters[counter], (unsigned long long)(__popc(active) * weight));
}

__device__ __forceinline__ void count_site(DeviceState* s, uint32_t site, uint32_t flags) {
  const unsigned active = __activemask();
  if (!leads(active)) return;
  atomicAdd((unsigned long long*)&s->sites[site].lanes, (unsigned long long)__popc(active));
  if ((s->sites[site].flags & flags) != flags) atomicOr(&s->sites[site].flags, flags);
}

// A barrier, or an operation of which no patch sees the bytes.
__device__ __forceinline__ void delay(DeviceState* s, uint32_t site, uint64_t pc);
__device__ __forceinline__ void synchronises(void* userdata, uint64_t pc, uint32_t counter,
                                             uint32_t flags = kSiteSync) {
  DeviceState* s = (DeviceState*)userdata;
  if (!s) return;
  count(s, counter);
  if (s->counting) count_site(s, site_of(s, pc), flags);
  if (s->actions) delay(s, site_of(s, pc), pc);
}

__device__ __noinline__ void delay_now(DeviceState* s, uint32_t site, uint64_t pc) {
  const uint8_t action = s->actions[site];
  const uint32_t block = block_number();
  if ((mix(block * 0x9e3779b9u ^ s->seed) & 0xffff) >= s->blocks_hit) return;
  const uint32_t who = action == kDelayByBlock ? block : block * 64 + thread_number() / 32;
  // In a graph all instructions are one site.
  const uint32_t drawn =
      mix(who * 0x9e3779b9u ^ s->seed ^ mix(s->site_count ? site : uint32_t(pc >> 4)));
  if ((drawn & 0xffff) >= s->probability) return;
  const uint32_t wanted = mix(drawn) % s->cycles;
  const long long begin = clock64();
  while (clock64() - begin < wanted) {
  }
  if (leads(__activemask())) {
    atomicAdd(&s->delayed, 1ull);
    atomicAdd(&s->delay_cycles, (unsigned long long)wanted);
  }
}

__device__ __forceinline__ void delay(DeviceState* s, uint32_t site, uint64_t pc) {
  if (s->actions[site] != kNothing) delay_now(s, site, pc);
}

// A store to global memory that is not among the ranges that can be restored.
__device__ __noinline__ void check_range(DeviceState* s, uint64_t address, uint32_t size,
                                         uint32_t site) {
  if (__isShared((void*)address) || __isLocal((void*)address)) return; // a generic address
  uint32_t low = 0, high = s->writable_count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (s->writable[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < s->writable_count && s->writable[low].begin <= address &&
      address + size <= s->writable[low].end)
    return;
  atomicMin(&s->lowest_stray, (unsigned long long)address);
  atomicMax(&s->highest_stray, (unsigned long long)(address + size - 1));
  if (atomicAdd(&s->stray_stores, 1ull) == 0) {
    s->first_stray = address;
    s->first_stray_site = site;
  }
}

__device__ __forceinline__ unsigned long long pair_key(uint32_t a, uint32_t b, uint32_t scope,
                                                       bool atomic, bool shared) {
  const unsigned long long first = min(a, b), second = max(a, b);
  return 1ull << kPairValidBit | (unsigned long long)shared << kPairSharedBit |
         (unsigned long long)scope << kPairScopeBit | (unsigned long long)atomic << kPairAtomicBit |
         second << kPairSecondBit | first;
}

__device__ __forceinline__ void meet(DeviceState* s, unsigned long long mine,
                                     unsigned long long other, uint64_t address, bool shared) {
  if (!other || !(mine & other & 15)) return;
  const uint64_t same_thread = ((1ull << kValidBit) - 1) & ~((1ull << kThreadBit) - 1);
  if (((mine ^ other) & same_thread) == 0) return;
  const uint64_t warp_bits = same_thread & ~(31ull << kThreadBit);
  const uint64_t block_bits = warp_bits & ~((1ull << kBlockBit) - 1);
  const uint64_t change = mine ^ other;
  const uint32_t scope = change & block_bits  ? kAcrossBlocks
                         : change & warp_bits ? kWithinBlock
                                              : kWithinWarp;
  const unsigned long long key =
      pair_key(uint32_t(mine >> kSiteBit) & kSiteMask, uint32_t(other >> kSiteBit) & kSiteMask, scope,
               (mine & other) >> kAtomicBit & 1, shared);
  uint32_t slot = mix(uint32_t(key) ^ mix(uint32_t(key >> 32))) & s->pair_mask;
  for (int probe = 0; probe < 16; ++probe, slot = (slot + 1) & s->pair_mask) {
    const unsigned long long found = atomicCAS(&s->pairs[slot].key, 0ull, key);
    if (found != 0 && found != key) continue;
    if (found == 0) s->pairs[slot].address = address;
    atomicAdd(&s->pairs[slot].count, 1ull);
    return;
  }
  atomicAdd(&s->pairs_lost, 1ull);
}

__device__ __noinline__ void record_granule(DeviceState* s, unsigned long long key,
                                            unsigned long long mine, bool writes, uint64_t address,
                                            bool shared) {
  // Lines of 128 bytes are left out where all of memory would not fit; all accesses to a line that is
  // looked at are seen.
  if (s->line_share && !shared && (mix(uint32_t(key >> 5)) & 0xffff) >= s->line_share) return;
  uint64_t slot = (uint64_t(mix(uint32_t(key) ^ mix(uint32_t(key >> 32)))) * 0x9e3779b97f4a7c15ull >> 20) &
                  s->cell_mask;
  for (int probe = 0;; ++probe, slot = (slot + 1) & s->cell_mask) {
    if (probe == 128) {
      atomicAdd(&s->cells_lost, 1ull);
      return;
    }
    const unsigned long long found = atomicCAS(&s->cells[slot].key, 0ull, key);
    if (found == 0 || found == key) break;
  }
  Cell* cell = &s->cells[slot];
  if (!writes) {
    meet(s, mine, *(volatile unsigned long long*)&cell->write, address, shared);
    const unsigned long long read = atomicCAS(&cell->read, 0ull, mine);
    const uint64_t warp_bits = ((1ull << kValidBit) - 1) & ~((1ull << (kThreadBit + 5)) - 1);
    if (read != 0 && ((read ^ mine) & warp_bits) != 0) cell->other_read = mine;
    return;
  }
  meet(s, mine, atomicExch(&cell->write, mine), address, shared);
  meet(s, mine, *(volatile unsigned long long*)&cell->read, address, shared);
  meet(s, mine, *(volatile unsigned long long*)&cell->other_read, address, shared);
}

__device__ __noinline__ void record(DeviceState* s, uint32_t site, uint64_t address, uint32_t size,
                                    bool writes, bool atomic, bool shared) {
  const uint32_t block = block_number() & kBlockMask;
  if (s->trace_total &&
      uint32_t(uint64_t(block) * s->trace_factor % s->trace_total) >= s->trace_blocks)
    return;
  if (shared && (mix(block) & 0xffff) >= s->shared_blocks) return;
  const unsigned long long base = 1ull << kValidBit | (unsigned long long)block << kBlockBit |
                                  (unsigned long long)(thread_number() & kThreadMask) << kThreadBit |
                                  (unsigned long long)site << kSiteBit |
                                  (unsigned long long)atomic << kAtomicBit;
  const uint64_t end = address + size;
  for (uint64_t granule = address & ~3ull; granule < end; granule += 4) {
    uint32_t bytes = 15;
    if (granule < address) bytes &= 15u << (address - granule);
    if (granule + 4 > end) bytes &= 15u >> (granule + 4 - end);
    const unsigned long long key =
        shared ? 1ull << 63 | (unsigned long long)block << 20 | ((granule >> 2) & 0xfffff)
               : granule >> 2;
    record_granule(s, key, base | bytes, writes, granule, shared);
  }
}

// One of the values that a store's lanes write to one address stays; which, is not defined (CUDA
// programming guide, SIMT architecture). The lanes cannot be turned round here: they are compared.
__device__ __noinline__ void compare_lanes(DeviceState* s, uint32_t site, uint64_t address,
                                           uint32_t size, const void* data) {
  uint32_t value = size == 1   ? *(const uint8_t*)data
                   : size == 2 ? *(const uint16_t*)data
                               : *(const uint32_t*)data;
  for (uint32_t word = 1; word < size / 4; ++word)
    value = mix(value) ^ ((const uint32_t*)data)[word];
  const unsigned active = __activemask();
  const unsigned there = __match_any_sync(active, (unsigned long long)address);
  const unsigned alike = __match_any_sync(active, value);
  const unsigned clashing = __ballot_sync(active, (there & ~alike) != 0);
  if (!clashing || !leads(active)) return;
  if (atomicAdd(&s->clashes, 1ull) == 0) s->clash_site = site;
}

__device__ __forceinline__ void access(DeviceState* s, uint64_t pc, uint64_t address, uint32_t size,
                                       uint32_t flags, bool shared, const void* data = nullptr) {
  if (!s) return;
  const bool reads = flags & SANITIZER_MEMORY_DEVICE_FLAG_READ;
  const bool writes = flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
  if (!reads && !writes) return; // a prefetch
  const uint32_t site = site_of(s, pc);
  if (s->counting) {
    const uint32_t first = shared ? kSharedReads : kGlobalReads;
    count(s, first + (reads && writes ? 2 : writes ? 1 : 0));
    count(s, shared ? kSharedGranules : kGlobalGranules, (size + 3) / 4);
    count_site(s, site,
               (shared ? kSiteShared : kSiteGlobal) | (reads ? kSiteReads : 0u) |
                   (writes ? kSiteWrites : 0u) | (reads && writes ? kSiteAtomic : 0u));
    if (writes && !shared) check_range(s, address, size, site);
  }
  if (s->cells && writes && !reads && data) compare_lanes(s, site, address, size, data);
  if (s->cells) record(s, site, address, size, writes, reads && writes, shared);
  if (s->actions) delay(s, site, pc);
}

} // namespace

#define PATCH extern "C" __device__ __noinline__ SanitizerPatchResult
#define STATE ((DeviceState*)userdata)

PATCH assay_global(void* userdata, uint64_t pc, void* p, uint32_t size, uint32_t flags,
                   const void* data) {
  access(STATE, pc, (uint64_t)p, size, flags, false, data);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_shared(void* userdata, uint64_t pc, void* p, uint32_t size, uint32_t flags,
                   const void* data) {
  access(STATE, pc, (uint64_t)p, size, flags, true, data);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_local(void* userdata, uint64_t, void*, uint32_t, uint32_t, const void*) {
  count(STATE, kLocalAccesses);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_remote(void* userdata, uint64_t pc, void*, uint32_t, uint32_t flags, const void*) {
  DeviceState* s = STATE;
  count(s, kRemoteShared);
  if (s && s->counting)
    count_site(s, site_of(s, pc),
               kSiteShared | (flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE ? kSiteWrites : kSiteReads));
  if (s && s->actions) delay(s, site_of(s, pc), pc);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_matrix(void* userdata, uint64_t pc, uint32_t address, uint32_t size, uint32_t flags,
                   uint32_t, const void*) {
  DeviceState* s = STATE;
  if (!s) return SANITIZER_PATCH_SUCCESS;
  count(s, kMatrixShared);
  access(s, pc, address, size, flags, true);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_async_copy(void* userdata, uint64_t pc, void* source, uint32_t target, uint32_t size) {
  DeviceState* s = STATE;
  if (!s) return SANITIZER_PATCH_SUCCESS;
  const uint32_t site = site_of(s, pc);
  count(s, kAsyncCopies);
  count(s, kGlobalGranules, (size + 3) / 4);
  count(s, kSharedGranules, (size + 3) / 4);
  if (s->counting)
    count_site(s, site, kSiteGlobal | kSiteShared | kSiteReads | kSiteWrites | kSiteAsync);
  if (s->cells) {
    record(s, site, (uint64_t)source, size, false, false, false);
    record(s, site, target, size, true, false, true);
  }
  if (s->actions) delay(s, site, pc);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_bulk_load(void* userdata, uint64_t pc, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t) {
  synchronises(userdata, pc, kBulkLoads, kSiteSync | kSiteShared | kSiteWrites | kSiteAsync);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_bulk_store(void* userdata, uint64_t pc, uint64_t, uint32_t, uint32_t) {
  synchronises(userdata, pc, kBulkStores, kSiteSync | kSiteShared | kSiteReads | kSiteAsync);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_bulk_shared(void* userdata, uint64_t pc, uint32_t, uint32_t, uint32_t, uint32_t) {
  synchronises(userdata, pc, kRemoteShared);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_mma(void* userdata, uint64_t pc, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) {
  synchronises(userdata, pc, kWarpgroupMma, kSiteSync | kSiteShared | kSiteReads);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_async_store(void* userdata, uint64_t pc, uint32_t, uint32_t, void*, uint32_t) {
  synchronises(userdata, pc, kAsyncStores);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_async_reduction(void* userdata, uint64_t pc, uint32_t, uint32_t, uint32_t) {
  synchronises(userdata, pc, kAsyncStores);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_barrier(void* userdata, uint64_t pc, uint32_t, uint32_t, uint32_t) {
  synchronises(userdata, pc, kBarriers);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_mbarrier(void* userdata, uint64_t pc, void*, uint32_t, uint32_t) {
  synchronises(userdata, pc, kMbarriers);
  return SANITIZER_PATCH_SUCCESS;
}

// Before the first instruction of a block: the first warp to come fills all its shared memory, the
// others wait for it. What a refill between launches leaves there may lie elsewhere, since the
// division of a multiprocessor's memory changes with the kernel.
PATCH assay_enter(void* userdata, uint64_t) {
  DeviceState* s = STATE;
  if (!s || !s->refill_flags) return SANITIZER_PATCH_SUCCESS;
  const uint32_t block = block_number();
  if (block >= s->refill_blocks) return SANITIZER_PATCH_SUCCESS;
  uint32_t begin = 0, size = 0;
  asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(size));
#if __CUDA_ARCH__ >= 800
  asm volatile("mov.u32 %0, %%reserved_smem_offset_end;" : "=r"(begin));
#endif
  const unsigned active = __activemask();
  const int leader = __ffs(active) - 1;
  uint32_t* flag = s->refill_flags + block;
  uint32_t first = 0;
  if (leads(active)) first = atomicCAS(flag, 0u, 1u) == 0u;
  first = __shfl_sync(active, first, leader);
  if (first) {
    const uint32_t mine = __popc(active & ((1u << lane()) - 1)), step = __popc(active);
    for (uint32_t i = mine; i < size / 4; i += step) {
      const uint32_t address = begin + 4 * i, word = mix(i ^ s->refill_pattern);
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
    }
    __threadfence();
    __syncwarp(active);
    if (leads(active)) *(volatile uint32_t*)flag = 2;
  } else {
    while (*(volatile uint32_t*)flag != 2) {
    }
  }
  return SANITIZER_PATCH_SUCCESS;
}
