// Blocks fetch rows to work on from a counter, and one thread tells the others.
// launch: --entry rows --grid 2 --block 64 --arg zeros:u32[1] --arg out:2048 --arg rand:u32[512]
// expect: pass
extern "C" __global__ void rows(unsigned* next, unsigned* y, const unsigned* x) {
  __shared__ unsigned row;
  for (;;) {
    if (threadIdx.x == 0)
      row = atomicAdd(next, 1);
    __syncthreads();
    unsigned r = row;
    if (r >= 8) break;
    y[r * 64 + threadIdx.x] = x[r * 64 + threadIdx.x] * 3;
#ifndef NO_SECOND
    __syncthreads();
#endif
  }
}
