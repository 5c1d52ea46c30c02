// The largest element and how often it was seen, under a lock by atom.cas.acquire and st.release.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:s32[4,9,2,9,9,1] --arg zeros:s32[2]
// launch: --arg zeros:u32[1]
// want 1 s32: 9 3
// want 2 u32: 0
// expect: pass
// twin acquire: race global @A @A
// twin acquire_scope: race global @A @A
// twin acquire_scope: race-without-consequence global @L @U
// twin acquire_scope: race global @L @L
// twin release: race global @A @A
// twin release_scope: race global @A @A
// twin release_scope: race-without-consequence global @L @U
// twin release_scope: race global @U @U
__device__ bool try_lock(unsigned* word) {
  unsigned old;
  asm volatile("atom.acquire.gpu.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(word) : "memory"); // @L ~acquire{acquire => relaxed} ~acquire_scope{gpu => cta}
  return old == 0;
}

__device__ void unlock(unsigned* word) {
  asm volatile("st.release.gpu.b32 [%0], 0;" ::"l"(word) : "memory"); // @U ~release{release => relaxed} ~release_scope{gpu => cta}
}

__global__ void largest(const int* x, int* best, unsigned* lock) {
  if (threadIdx.x % 32 != 0) return;
  int v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  while (!try_lock(lock)) {
  }
  best[1] = v > best[0] ? 1 : best[1] + (v == best[0]), best[0] = max(v, best[0]); // @A
  unlock(lock);
}
