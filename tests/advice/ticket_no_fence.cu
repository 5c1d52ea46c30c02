// A ticket lock that is passed on without a fence.
// launch: --arch sm_80 --grid 3 --block 32 --arg zeros:u32[2] --arg zeros:s32[1]
// help: __threadfence() before
__global__ void add(unsigned* lock, int* total) {
  if (threadIdx.x) return;
  unsigned ticket = atomicAdd(&lock[0], 1);
  while (atomicAdd(&lock[1], 0) != ticket) {
  }
  __threadfence();
  *total += 3; // @A @B
#ifdef SOUND
  __threadfence();
#endif
  atomicAdd(&lock[1], 1);
}
