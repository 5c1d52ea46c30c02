// Column sums of tiles that are copied one ahead.
// Defect: one group may still be under way, and for the last tile that is this tile's own.
// expect: race shared @A @B
#include <cuda_pipeline.h>

__global__ void tile_sums(const unsigned* x, unsigned* sums, int tiles) {
  __shared__ unsigned ring[2][1024];
  int t = threadIdx.x, n = blockDim.x;
  unsigned sum = 0;
  for (int k = -1; k < tiles; ++k) {
    if (k + 1 < tiles) {
      const unsigned* from = x + (blockIdx.x * tiles + k + 1) * n + t;
      __pipeline_memcpy_async(&ring[(k + 1) % 2][t], from, 4); // @A
      __pipeline_commit();
    }
    if (k < 0) continue;
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += ring[k % 2][n - 1 - t]; // @B
    __syncthreads();
  }
  sums[blockIdx.x * n + t] = sum;
}
