// thread.cu without `wait`; written by tests/idioms/derive.py.
// Each thread copies its own column through a cuda::pipeline of its own; the block reads across.
// launch: --arch sm_80 --grid 2 --block 64 --arg rand:u32[1024] --arg out:512
// expect: race shared
#include <cuda/pipeline>

__global__ void column_sums(const unsigned* x, unsigned* y) {
  __shared__ unsigned ring[2][64];
  auto pipe = cuda::make_pipeline();
  const unsigned* from = x + blockIdx.x * 512 + threadIdx.x;
  auto fetch = [&](int k) {
    pipe.producer_acquire();
    cuda::memcpy_async(&ring[k % 2][threadIdx.x], from + k * 64, sizeof(unsigned), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    if (k < 7) fetch(k + 1);
    if (k < 7)
      cuda::pipeline_consumer_wait_prior<2>(pipe);
    else
      cuda::pipeline_consumer_wait_prior<0>(pipe);
    __syncthreads();
    sum += ring[k % 2][63 - threadIdx.x];
    pipe.consumer_release();
    __syncthreads();
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}
