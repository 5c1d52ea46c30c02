// Sums over rotated rows that a cuda::pipeline of each thread copies to shared memory one step ahead. The
// tile is wider than a row, and what is beyond it counts as zero.
// expect: pass proved
// Not proved with -G: the library copies padding then, and reads registers that the manual leaves open.
#include <cooperative_groups.h>
#include <cuda/pipeline>

__global__ void rotated_sums(const float* x, float* y, int steps, int cols) {
  __shared__ float tile[2][1024];
  auto block = cooperative_groups::this_thread_block();
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  tile[0][threadIdx.x] = tile[1][threadIdx.x] = 0;
  block.sync();
  x += (size_t)blockIdx.x * steps * cols;
  auto fetch = [&](int k) {
    pipe.producer_acquire();
    if (k < steps && threadIdx.x < cols)
      cuda::memcpy_async(&tile[k % 2][threadIdx.x], x + k * cols + threadIdx.x, sizeof(float), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  float sum = 0;
  for (int k = 0; k < steps; ++k) {
    fetch(k + 1);
    cuda::pipeline_consumer_wait_prior<1>(pipe);
    block.sync();
    sum += tile[k % 2][(threadIdx.x + 32) % blockDim.x];
    block.sync();
    pipe.consumer_release();
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
