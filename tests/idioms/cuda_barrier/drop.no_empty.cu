// drop.cu without `empty`; written by tests/idioms/derive.py.
// Warps that have no more rows leave the barrier by arrive_and_drop; those that stay go on with it.
// launch: --arch sm_80 --grid 2 --block 96 --arg rand:u32[192] --arg out:768
// expect: race shared @A @B
#include <cuda/barrier>

__global__ void rounds(const unsigned* x, unsigned* y) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ unsigned cells[96];
  unsigned t = threadIdx.x, warp = t / 32, v = x[blockIdx.x * 96 + t];
  if (t == 0) init(&barrier, blockDim.x);
  cells[t] = 0;
  __syncthreads();
#pragma unroll 1
  for (unsigned turn = 0; turn < 3; ++turn) {
    if (turn > warp) {
      barrier.arrive_and_drop();
      break;
    }
    cells[t] = v * (turn + 1); // @A
    barrier.arrive_and_wait();
    v = cells[(t + 32) % 96] + t; // @B
  }
  y[blockIdx.x * 96 + t] = v;
}
