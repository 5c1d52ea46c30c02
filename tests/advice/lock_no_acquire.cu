// Each lane takes a lock in turn; no fence after it has been taken.
// launch: --arch sm_80 --grid 1 --block 32 --arg zeros:s32[1] --arg zeros:s32[1]
// help: __threadfence() after
// not: __sync
__global__ void count(int* total, int* lock) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
#ifdef SOUND
      __threadfence();
#endif
      *total += int(threadIdx.x);
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
