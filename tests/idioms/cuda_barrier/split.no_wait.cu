// split.cu without `wait`; written by tests/idioms/derive.py.
// Arrival and waiting apart: between them each thread does what needs nobody else.
// launch: --arch sm_80 --grid 2 --block 64 --arg rand:u32[128] --arg out:512
// expect: race shared @A @B
#include <cuda/barrier>
#include <utility>

__global__ void exchange(const unsigned* x, unsigned* y) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier barrier;
  __shared__ unsigned cells[2][64];
  unsigned t = threadIdx.x, v = x[blockIdx.x * 64 + t];
  if (t == 0) init(&barrier, blockDim.x);
  __syncthreads();
#pragma unroll 1
  for (int turn = 0; turn < 4; ++turn) {
    cells[turn % 2][t] = v * (turn + 1); // @A
    auto token = barrier.arrive();
    unsigned own = v * 17 + turn;
    v = cells[turn % 2][63 - t] + own; // @B
  }
  y[blockIdx.x * 64 + t] = v;
}
