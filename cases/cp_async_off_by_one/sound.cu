// Column sums of tiles that are copied one ahead.
// For the last tile nothing may be under way any more.
// expect: pass
#include <cuda_pipeline.h>

__global__ void tile_sums(const unsigned* x, unsigned* sums, int tiles) {
  __shared__ unsigned ring[2][1024];
  int t = threadIdx.x, n = blockDim.x;
  unsigned sum = 0;
  for (int k = -1; k < tiles; ++k) {
    if (k + 1 < tiles) {
      const unsigned* from = x + (blockIdx.x * tiles + k + 1) * n + t;
      __pipeline_memcpy_async(&ring[(k + 1) % 2][t], from, 4);
      __pipeline_commit();
    }
    if (k < 0) continue;
    if (k + 1 < tiles)
      __pipeline_wait_prior(1);
    else
      __pipeline_wait_prior(0);
    __syncthreads();
    sum += ring[k % 2][n - 1 - t];
    __syncthreads();
  }
  sums[blockIdx.x * n + t] = sum;
}
