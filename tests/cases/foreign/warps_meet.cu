// The warps of a block meet at a counter in shared memory.
// launch: --entry k --grid 2 --block 96 --arg rand:u32[192] --arg out:768 -DFENCE
// expect: pass
// a barrier among the warps of a block by a shared counter
#include <cuda/atomic>
extern "C" __global__ void k(const unsigned* x, unsigned* y) {
  __shared__ unsigned cells[96];
  __shared__ unsigned count;
  unsigned t = threadIdx.x, i = blockIdx.x * 96 + t;
  if (t == 0) count = 0;
  __syncthreads();
  cells[t] = x[i];
  __syncwarp();
  if (t % 32 == 0) {
#ifndef NO_FENCE
    __threadfence_block();
#endif
    atomicAdd_block(&count, 1);
    while (*(volatile unsigned*)&count < 3) {}
    __threadfence_block();
  }
  __syncwarp();
  y[i] = cells[95 - t];
}
