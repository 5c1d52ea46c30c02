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

__device__ __noinline__ void delay(DeviceState* s, uint32_t site) {
  const uint8_t action = s->actions[site];
  if (action == kNothing) return;
  const uint32_t block = block_number();
  if ((mix(block * 0x9e3779b9u ^ s->seed) & 0xffff) >= s->blocks_hit) return;
  const uint32_t who = action == kDelayByBlock ? block : block * 64 + thread_number() / 32;
  const uint32_t drawn = mix(who * 0x9e3779b9u ^ s->seed ^ mix(site));
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

__device__ __forceinline__ void access(DeviceState* s, uint64_t pc, uint64_t address, uint32_t size,
                                       uint32_t flags, bool shared) {
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
  if (s->cells) record(s, site, address, size, writes, reads && writes, shared);
  if (s->actions) delay(s, site);
}

} // namespace

#define PATCH extern "C" __device__ __noinline__ SanitizerPatchResult
#define STATE ((DeviceState*)userdata)

PATCH assay_global(void* userdata, uint64_t pc, void* p, uint32_t size, uint32_t flags, const void*) {
  access(STATE, pc, (uint64_t)p, size, flags, false);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_shared(void* userdata, uint64_t pc, void* p, uint32_t size, uint32_t flags, const void*) {
  access(STATE, pc, (uint64_t)p, size, flags, true);
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
  if (s && s->actions) delay(s, site_of(s, pc));
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
  if (s->actions) delay(s, site);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_bulk_load(void* userdata, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t) {
  count(STATE, kBulkLoads);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_bulk_store(void* userdata, uint64_t, uint64_t, uint32_t, uint32_t) {
  count(STATE, kBulkStores);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_bulk_shared(void* userdata, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t) {
  count(STATE, kRemoteShared);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_mma(void* userdata, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) {
  count(STATE, kWarpgroupMma);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_async_store(void* userdata, uint64_t, uint32_t, uint32_t, void*, uint32_t) {
  count(STATE, kAsyncStores);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_async_reduction(void* userdata, uint64_t, uint32_t, uint32_t, uint32_t) {
  count(STATE, kAsyncStores);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_barrier(void* userdata, uint64_t, uint32_t, uint32_t, uint32_t) {
  count(STATE, kBarriers);
  return SANITIZER_PATCH_SUCCESS;
}

PATCH assay_mbarrier(void* userdata, uint64_t, void*, uint32_t, uint32_t) {
  count(STATE, kMbarriers);
  return SANITIZER_PATCH_SUCCESS;
}
