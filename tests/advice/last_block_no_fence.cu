// The last block adds up what the others wrote; no fence before the counter.
// launch: --arch sm_80 --grid 4 --block 32 --arg rand:s32[4] --arg out:16 --arg zeros:u32[1] --arg out:4
// help: __threadfence() before
__global__ void total(const int* x, int* part, unsigned* count, int* y) {
  if (threadIdx.x) return;
  part[blockIdx.x] = 3 * x[blockIdx.x]; // @A
#ifdef SOUND
  __threadfence();
#endif
  if (atomicAdd(count, 1) == gridDim.x - 1) {
    __threadfence();
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += part[b]; // @B
    *y = sum;
  }
}
