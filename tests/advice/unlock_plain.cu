// The unlock is a plain store.
// launch: --arch sm_80 --grid 2 --block 32 --arg zeros:s32[1] --arg zeros:s32[1]
// help: atomicExch
// not: __sync
__global__ void count(int* total, int* lock) {
  if (threadIdx.x) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *total += 1;
  __threadfence();
#ifdef SOUND
  atomicExch(lock, 0);
#else
  *lock = 0;
#endif
}
