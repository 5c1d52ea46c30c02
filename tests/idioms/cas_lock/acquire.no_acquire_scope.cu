// acquire.cu without `acquire_scope`; written by tests/idioms/derive.py.
// The largest element and how often it was seen, under a lock by atom.cas.acquire and st.release.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:s32[4,9,2,9,9,1] --arg zeros:s32[2]
// launch: --arg zeros:u32[1]
// expect: race global @A @A
// expect: race-without-consequence global @L @U
// expect: race global @L @L
__device__ bool try_lock(unsigned* word) {
  unsigned old;
  asm volatile("atom.acquire.cta.cas.b32 %0, [%1], 0, 1;" : "=r"(old) : "l"(word) : "memory"); // @L
  return old == 0;
}

__device__ void unlock(unsigned* word) {
  asm volatile("st.release.gpu.b32 [%0], 0;" ::"l"(word) : "memory"); // @U
}

__global__ void largest(const int* x, int* best, unsigned* lock) {
  if (threadIdx.x % 32 != 0) return;
  int v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  while (!try_lock(lock)) {
  }
  best[1] = v > best[0] ? 1 : best[1] + (v == best[0]), best[0] = max(v, best[0]); // @A
  unlock(lock);
}
