// fenced.cu without `release_scope`; written by tests/idioms/derive.py.
// The largest element and how often it was seen, under a lock by compare-and-swap; fences around
// plain data.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:s32[4,9,2,9,9,1] --arg zeros:s32[2]
// launch: --arg zeros:u32[1]
// expect: race global @A @A
__global__ void largest(const int* x, int* best, unsigned* lock) {
  if (threadIdx.x % 32 != 0) return;
  int v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(100);
  __threadfence();
  best[1] = v > best[0] ? 1 : best[1] + (v == best[0]), best[0] = max(v, best[0]); // @A
  __threadfence_block();
  atomicExch(lock, 0);
}
