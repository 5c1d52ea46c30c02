// Each lane of a warp takes a lock in turn; it is given back without a fence.
// launch: --arch sm_80 --grid 1 --block 32 --arg zeros:s32[1] --arg zeros:s32[1]
// help: __threadfence() before
// not: __sync
__global__ void count(int* total, int* lock) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *total += int(threadIdx.x);
#ifdef SOUND
      __threadfence();
#endif
      atomicExch(lock, 0);
      done = true;
    }
  }
}
