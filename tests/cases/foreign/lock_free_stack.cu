// A stack of all threads, linked by compare-and-swap; the last block empties it.
// launch: --entry stack --grid 3 --block 32 --arg out:384 --arg list:u32[4294967295] --arg zeros:u32[1] --arg out:384
// expect: pass
// every thread pushes a node; the last block pops them all, and sums
extern "C" __global__ void stack(unsigned* next, unsigned* head, unsigned* done, unsigned* value) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  value[i] = i + 1;
  unsigned old = *(volatile unsigned*)head, seen;
  do {
    next[i] = old;
    __threadfence();
    seen = old;
    old = atomicCAS(head, seen, i);
  } while (old != seen);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(done, 1) == gridDim.x - 1) {
#ifndef NO_ACQUIRE
      __threadfence();
#endif
      unsigned sum = 0, at = *(volatile unsigned*)head;
      while (at != ~0u) {
        unsigned n = next[at];
        sum += value[at];
        next[at] = 0;
        at = n;
      }
      *head = sum, *done = 0;
    }
  }
}
