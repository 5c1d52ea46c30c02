// Two locks, taken in opposite orders by two blocks.
// launch: --arch sm_80 --grid 2 --block 32 --arg zeros:s32[2] --arg zeros:s32[1]
// kind: hang
// help: in one order
__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}
__global__ void add(int* locks, int* total) {
  if (threadIdx.x) return;
#ifdef SOUND
  int first = 0;
#else
  int first = blockIdx.x;
#endif
  take(&locks[first]);
  take(&locks[1 - first]);
  *total += 1;
  __threadfence();
  atomicExch(&locks[first], 0);
  atomicExch(&locks[1 - first], 0);
}
