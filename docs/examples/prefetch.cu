// Sums rows; while one row is added, the copy of the next one is under way.
#include <cuda_pipeline.h>

constexpr int kWidth = 64;

__global__ void sum_rows(const float* x, float* sums, int rows) {
  __shared__ float buffer[2][kWidth];
  int i = threadIdx.x;
  float sum = 0.0f;
  __pipeline_memcpy_async(&buffer[0][i], &x[i], sizeof(float));
  __pipeline_commit();
  for (int r = 0; r < rows; ++r) {
    if (r + 1 < rows)
      __pipeline_memcpy_async(&buffer[(r + 1) % 2][i], &x[(r + 1) * kWidth + i], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(2);
    __syncthreads();
    sum += buffer[r % 2][kWidth - 1 - i];
    __syncthreads();
  }
  sums[i] = sum;
}
