// Persistent blocks take nodes of a tree from a queue and put both children into it: a ticket for the
// place to take from, another for the place to put to. ld.acquire waits for a mark,
// st.release sets it.
// launch: --arch sm_80 --grid 3 --block 32 --arg zeros:u32[32] --arg zeros:u32[32]
// launch: --arg inlist:u32[0,1] --arg out:60
// want 1 u32: 0*32
// want 3 u32: 0 1 4 9 16 25 36 49 64 81 100 121 144 169 196
// expect: pass
// twin release: race global @A @B
// twin release: race global @A @C
// twin release_scope: race global @A @B
// twin release_scope: race global @A @C
// twin release_scope: race-without-consequence global @P @R
// twin release_scope: race global @R @X
// twin acquire_scope: race global @A @B
// twin acquire_scope: race global @A @C
// twin acquire_scope: race-without-consequence global @P @R
// twin acquire: race global @A @B
// twin acquire: race global @A @C
constexpr unsigned kNodes = 15;

__device__ unsigned load_acquire(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); // @P ~acquire{acquire => relaxed} ~acquire_scope{gpu => cta}
  return v;
}

__device__ void store_release(unsigned* p, unsigned v) {
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); // @R ~release{release => relaxed} ~release_scope{gpu => cta}
}

__device__ void store_relaxed(unsigned* p, unsigned v) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); // @X
}

__global__ void walk(unsigned* payload, unsigned* mark, unsigned* ends, unsigned* squares) {
  __shared__ unsigned ticket, node;
  if (blockIdx.x == 0 && threadIdx.x == 0) store_release(&mark[0], 1);
  for (;;) {
    if (threadIdx.x == 0) {
      ticket = atomicAdd(&ends[0], 1u);
      if (ticket < kNodes) {
        while (load_acquire(&mark[ticket]) == 0) {
        }
        node = payload[ticket]; // @B
        payload[ticket] = 0, store_relaxed(&mark[ticket], 0); // @C
      }
    }
    __syncthreads();
    if (ticket >= kNodes) return;
    if (threadIdx.x == 31) squares[node] = node * node;
    if (threadIdx.x < 2 && 2 * node + 1 + threadIdx.x < kNodes) {
      unsigned place = atomicAdd(&ends[1], 1u);
      payload[place] = 2 * node + 1 + threadIdx.x; // @A
      store_release(&mark[place], 1);
    }
    __syncthreads();
  }
}
