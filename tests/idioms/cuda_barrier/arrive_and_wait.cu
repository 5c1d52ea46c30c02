// Neighbours exchange through shared memory, turn after turn, with a cuda::barrier of the block.
// launch: --arch sm_80 --grid 2 --block 64 --arg rand:u32[128] --arg out:512
// expect: pass
// twin init: race shared
// twin init: illegal-operation shared
// twin full: race shared @A @B
// twin empty: race shared @A @B
#include <cuda/barrier>

__global__ void exchange(const unsigned* x, unsigned* y) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ unsigned cells[64];
  unsigned t = threadIdx.x, v = x[blockIdx.x * 64 + t];
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads(); // ~init
#pragma unroll 1
  for (int turn = 0; turn < 3; ++turn) {
    cells[t] = v * (turn + 1); // @A
    barrier.arrive_and_wait(); // ~full
    v = cells[63 - t] + t; // @B
    barrier.arrive_and_wait(); // ~empty
  }
  y[blockIdx.x * 64 + t] = v;
}
