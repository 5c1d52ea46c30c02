// atomic_ref.cu without `scope`; written by tests/idioms/derive.py.
// Persistent blocks take nodes of a tree from a queue and put both children into it: a ticket for the
// place to take from, another for the place to put to. The marks are
// cuda::atomic_ref.
// launch: --arch sm_80 --grid 3 --block 32 --arg zeros:u32[32] --arg zeros:u32[32]
// launch: --arg inlist:u32[0,1] --arg out:60
// expect: race global @A @B
// expect: race global @A @C
// expect: race-without-consequence global @F @P
// expect: race global @F @X
// expect: race-without-consequence global @P @R
// expect: race global @R @X
#include <cuda/atomic>

constexpr unsigned kNodes = 15;
using Mark = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

__global__ void walk(unsigned* payload, unsigned* mark, unsigned* ends, unsigned* squares) {
  __shared__ unsigned ticket, node;
  if (blockIdx.x == 0 && threadIdx.x == 0) Mark(mark[0]).store(1, cuda::memory_order_release); // @F
  for (;;) {
    if (threadIdx.x == 0) {
      ticket = atomicAdd(&ends[0], 1u);
      if (ticket < kNodes) {
        while (Mark(mark[ticket]).load(cuda::memory_order_acquire) == 0) { // @P
        }
        node = payload[ticket]; // @B
        payload[ticket] = 0; // @C
        Mark(mark[ticket]).store(0, cuda::memory_order_relaxed); // @X
      }
    }
    __syncthreads();
    if (ticket >= kNodes) return;
    if (threadIdx.x == 31) squares[node] = node * node;
    if (threadIdx.x < 2 && 2 * node + 1 + threadIdx.x < kNodes) {
      unsigned place = atomicAdd(&ends[1], 1u);
      payload[place] = 2 * node + 1 + threadIdx.x; // @A
      Mark(mark[place]).store(1, cuda::memory_order_release); // @R
    }
    __syncthreads();
  }
}
