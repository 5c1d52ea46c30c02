// Persistent blocks take nodes of a tree from a queue and put both children into it: a ticket for the
// place to take from, another for the place to put to. Plain payload, volatile marks, fences.
// launch: --arch sm_80 --grid 3 --block 32 --arg zeros:u32[32] --arg zeros:u32[32]
// launch: --arg inlist:u32[0,1] --arg out:60
// want 1 u32: 0*32
// want 3 u32: 0 1 4 9 16 25 36 49 64 81 100 121 144 169 196
// expect: pass
// twin release: race global @A @B
// twin release: race global @A @C
// twin release_scope: race global @A @B
// twin release_scope: race global @A @C
// twin acquire: race global @A @B
// twin acquire: race global @A @C
// twin acquire_scope: race global @A @B
// twin acquire_scope: race global @A @C
constexpr unsigned kNodes = 15;

__global__ void walk(unsigned* payload, unsigned* marks, unsigned* ends, unsigned* squares) {
  __shared__ unsigned ticket, node;
  volatile unsigned* mark = marks;
  if (blockIdx.x == 0 && threadIdx.x == 0) mark[0] = 1;
  for (;;) {
    if (threadIdx.x == 0) {
      ticket = atomicAdd(&ends[0], 1u);
      if (ticket < kNodes) {
        while (mark[ticket] == 0) {
        }
        __threadfence(); // ~acquire ~acquire_scope{__threadfence() => __threadfence_block()}
        node = payload[ticket]; // @B
        payload[ticket] = 0, mark[ticket] = 0; // @C
      }
    }
    __syncthreads();
    if (ticket >= kNodes) return;
    if (threadIdx.x == 31) squares[node] = node * node;
    if (threadIdx.x < 2 && 2 * node + 1 + threadIdx.x < kNodes) {
      unsigned place = atomicAdd(&ends[1], 1u);
      payload[place] = 2 * node + 1 + threadIdx.x; // @A
      __threadfence(); // ~release ~release_scope{__threadfence() => __threadfence_block()}
      mark[place] = 1;
    }
    __syncthreads();
  }
}
