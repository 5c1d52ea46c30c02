// The largest element and how often it was seen, under a lock by compare-and-swap; fences around
// plain data.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:s32[4,9,2,9,9,1] --arg zeros:s32[2]
// launch: --arg zeros:u32[1]
// want 1 s32: 9 3
// want 2 u32: 0
// expect: pass
// twin acquire: race global @A @A
// twin acquire_scope: race global @A @A
// twin release: race global @A @A
// twin release_scope: race global @A @A
__global__ void largest(const int* x, int* best, unsigned* lock) {
  if (threadIdx.x % 32 != 0) return;
  int v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(100);
  __threadfence(); // ~acquire ~acquire_scope{__threadfence() => __threadfence_block()}
  best[1] = v > best[0] ? 1 : best[1] + (v == best[0]), best[0] = max(v, best[0]); // @A
  __threadfence(); // ~release ~release_scope{__threadfence() => __threadfence_block()}
  atomicExch(lock, 0);
}
