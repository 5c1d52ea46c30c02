// Column sums of tiles that come through two buffers by asynchronous copies.
// A buffer is refilled when all threads have read it.
// expect: pass
#include <cuda_pipeline.h>

__global__ void column_sums(const unsigned* x, unsigned* sums, int tiles) {
  __shared__ unsigned ring[2][1024];
  int t = threadIdx.x, n = blockDim.x;
  const unsigned* from = x + blockIdx.x * tiles * n + t;
  unsigned sum = 0;
  for (int k = -2; k < tiles; ++k) {
    if (k >= 0) {
      __pipeline_wait_prior(1);
      __syncthreads();
      sum += ring[k % 2][n - 1 - t];
      __syncthreads();
    }
    if (k + 2 < tiles)
      __pipeline_memcpy_async(&ring[(k + 2) % 2][t], from + (k + 2) * n, 4);
    __pipeline_commit();
  }
  sums[blockIdx.x * n + t] = sum;
}
