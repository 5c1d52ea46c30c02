// Inclusive scan in one pass by decoupled look-back. Flag and value of a tile are a cuda::atomic of
// 128 bits, which libcu++ keeps behind a lock of the object's own.
// launch: --arch sm_80 --grid 5 --block 64 --arg list:u32[1*320] --arg out:1280
// launch: --arg zeros:u64[20]
// expect: pass
// twin scope: race global @A @L
// twin scope: race-without-consequence global @A @L
// twin scope: race global @B @L
// twin scope: race-without-consequence global @B @L
// twin scope: race global @L @L
// twin scope: race-without-consequence global @L @L
// twin broadcast: race shared @S @T
#include <cuda/atomic>

struct alignas(16) Word {
  unsigned long long flag, value;
};
using Status = cuda::atomic<Word, cuda::thread_scope_device>; // ~scope{scope_device => scope_block}
static_assert(sizeof(Status) == 32, "the word and its lock");

__device__ unsigned warp_scan(unsigned v) {
  for (int d = 1; d < 32; d *= 2) {
    unsigned left = __shfl_up_sync(~0u, v, d);
    if (threadIdx.x % 32 >= d) v += left;
  }
  return v;
}

__device__ unsigned long long look_back(int tile, unsigned long long own, Status* status) {
  unsigned long long before = 0;
  status[tile].store(Word{tile == 0 ? 2ull : 1ull, own}, cuda::memory_order_relaxed); // @A
  if (tile == 0) return 0;
  for (int t = tile - 1;; --t) {
    Word seen;
    while ((seen = status[t].load(cuda::memory_order_relaxed)).flag == 0) { // @L
    }
    before += seen.value;
    if (seen.flag == 2) break;
  }
  status[tile].store(Word{2, before + own}, cuda::memory_order_relaxed); // @B
  return before;
}

__global__ void scan(const unsigned* x, unsigned* y, Status* status) {
  __shared__ unsigned half, before;
  int tile = blockIdx.x, i = tile * 64 + threadIdx.x;
  unsigned v = warp_scan(x[i]);
  if (threadIdx.x == 31) half = v;
  __syncthreads();
  if (threadIdx.x >= 32) v += half;
  if (threadIdx.x == 63) before = look_back(tile, v, status); // @S
  __syncthreads(); // ~broadcast
  y[i] = before + v; // @T
}
