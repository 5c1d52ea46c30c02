// Kernels that the injection library launches itself, between runs of the kernel under examination:
// refill of shared memory, comparison, search for addresses in memory.
#include <stdint.h>

// What a comparison found; the host zeroes it first (first_chunk: all ones).
struct Comparison {
  unsigned long long differing_bytes;
  unsigned long long first_chunk;
};

__device__ __forceinline__ uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

// One block for each multiprocessor, with all the shared memory that a block can have: the blocks are
// resident together only if each sits on a multiprocessor of its own, so each waits until all have
// begun. `seen` holds one flag for each multiprocessor; `begun` counts.
extern "C" __global__ void assay_scrub(uint32_t pattern, uint32_t* seen, uint32_t seen_size,
                                       uint32_t* begun) {
  extern __shared__ uint32_t words[];
  uint32_t size, processor;
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(size));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(processor));
  for (uint32_t i = threadIdx.x; i < size / 4; i += blockDim.x)
    ((volatile uint32_t*)words)[i] = mix(i ^ pattern);
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (processor < seen_size) seen[processor] = 1;
  atomicAdd(begun, 1u);
  // A limit, should the device be shared with somebody who keeps blocks out.
  for (int round = 0; round < 100000 && *(volatile uint32_t*)begun < gridDim.x; ++round) {
  }
}

// Replaces what the second-level cache holds: reads and writes all of a buffer larger than it.
extern "C" __global__ void assay_flush(uint4* words, uint64_t count, uint32_t seed) {
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count;
       i += uint64_t(gridDim.x) * blockDim.x) {
    uint4 v = words[i];
    v.x += seed, v.y ^= v.x, v.z += v.y, v.w ^= v.z;
    words[i] = v;
  }
}

// Keeps blocks busy for so many nanoseconds and then ends by itself, whatever happens: moving memory
// when there is any, else only holding their threads and shared memory.
extern "C" __global__ void assay_press(uint4* words, uint64_t count, uint64_t nanoseconds) {
  uint64_t begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  uint64_t at = (blockIdx.x * uint64_t(blockDim.x) + threadIdx.x) * 67;
  do {
    for (int i = 0; i < 16 && count; ++i) {
      at = (at + uint64_t(gridDim.x) * blockDim.x) % count;
      uint4 v = words[at];
      v.x += 1;
      words[at] = v;
    }
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

// Compares `size` bytes at `memory` with what stands at expected[chunk] for each chunk. One block
// handles a chunk at a time.
extern "C" __global__ void assay_compare(const uint8_t* memory, uint64_t size,
                                         const uint64_t* expected, uint32_t chunk_size,
                                         uint8_t* changed, Comparison* result) {
  __shared__ uint32_t total;
  const uint64_t chunks = (size + chunk_size - 1) / chunk_size;
  for (uint64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    const uint64_t begin = chunk * chunk_size;
    const uint32_t length = uint32_t(size - begin < chunk_size ? size - begin : chunk_size);
    const uint8_t *a = memory + begin, *b = (const uint8_t*)expected[chunk];
    uint32_t differ = 0;
    const bool wide = (((uint64_t)a | (uint64_t)b) & 15) == 0;
    const uint32_t whole = wide ? length / 16 : 0;
    for (uint32_t i = threadIdx.x; i < whole; i += blockDim.x) {
      const uint4 x = ((const uint4*)a)[i], y = ((const uint4*)b)[i];
      if (x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w) continue;
      for (uint32_t j = 16 * i; j < 16 * i + 16; ++j) differ += a[j] != b[j];
    }
    for (uint32_t i = 16 * whole + threadIdx.x; i < length; i += blockDim.x) differ += a[i] != b[i];
    if (differ) atomicAdd(&total, differ);
    __syncthreads();
    if (threadIdx.x == 0) {
      if (changed) changed[chunk] = total != 0;
      if (total) {
        atomicAdd(&result->differing_bytes, (unsigned long long)total);
        atomicMin(&result->first_chunk, (unsigned long long)chunk);
      }
    }
    __syncthreads();
  }
}

struct Range {
  uint64_t begin, end;
};

// Marks each range that an aligned 8-byte word of this memory points into (its end included: a
// pointer past the last element is common).
extern "C" __global__ void assay_find_addresses(const uint64_t* words, uint64_t count,
                                                const Range* ranges, uint32_t range_count,
                                                uint8_t* hit) {
  const uint64_t lowest = ranges[0].begin, highest = ranges[range_count - 1].end;
  for (uint64_t i = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x; i < count;
       i += uint64_t(gridDim.x) * blockDim.x) {
    const uint64_t word = words[i];
    if (word < lowest || word > highest) continue;
    uint32_t low = 0, high = range_count;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (ranges[middle].end < word)
        low = middle + 1;
      else
        high = middle;
    }
    // A word may be the end of one range and the beginning of the next.
    for (; low < range_count && ranges[low].begin <= word; ++low) hit[low] = 1;
  }
}
