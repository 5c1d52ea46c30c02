// Divides all values by their sum of squares: each block leaves its part, a grid barrier of a cooperative
// launch waits for all of them, then everybody adds the parts up.
// Defect: only the own block is waited for.
// expect: race global @A @B
#include <cooperative_groups.h>

__global__ void normalise(const float* x, float* part, float* y) {
  auto grid = cooperative_groups::this_grid();
  auto block = cooperative_groups::this_thread_block();
  __shared__ float sums[1024];
  int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  sums[tid] = x[i] * x[i];
  block.sync();
  for (int n = blockDim.x / 2; n > 0; n /= 2) {
    if (tid < n) sums[tid] += sums[tid + n];
    block.sync();
  }
  if (tid == 0) part[blockIdx.x] = sums[0]; // @A
  block.sync();
  float total = 0;
  for (int b = 0; b < gridDim.x; ++b) total += part[b]; // @B
  y[i] = x[i] / total;
}
