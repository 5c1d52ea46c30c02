// A sum by atomics, read plainly by whoever is done.
// launch: --arch sm_80 --grid 2 --block 32 --arg zeros:s32[1] --arg zeros:s32[2]
// help: atomic or volatile|grid-wide
__global__ void sum(int* total, int* y) {
  if (threadIdx.x == 0) {
    atomicAdd(total, blockIdx.x + 1); // @A
#ifndef SOUND
    y[blockIdx.x] = *total; // @B
#endif
  }
}
