// Reverses each block's elements through shared memory, with a cuda::barrier.
// expect: pass
#include <cuda/barrier>

__global__ void reverse(const unsigned* x, unsigned* y) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ unsigned cells[1024];
  unsigned t = threadIdx.x, n = blockDim.x;
  if (t == 0) init(&barrier, n);
  __syncthreads();
  cells[t] = x[blockIdx.x * n + t];
  barrier.arrive_and_wait();
  y[blockIdx.x * n + t] = cells[n - 1 - t];
}
