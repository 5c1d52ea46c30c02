// Sums of reversed rows through shared memory; a cuda::barrier parts the writing from the reading.
// Defect: nobody waits at the end of a round, so that a fast thread overwrites what a slow one has yet to read.
// expect: race shared @A @B
#include <cuda/barrier>

__global__ void reversed_rounds(const float* x, float* y, int steps) {
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(8) unsigned char storage[sizeof(barrier)];
  __shared__ float row[1024];
  barrier& ready = *reinterpret_cast<barrier*>(storage);
  if (threadIdx.x == 0) init(&ready, blockDim.x);
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < steps; ++k) {
    row[threadIdx.x] = x[(blockIdx.x * steps + k) * blockDim.x + threadIdx.x]; // @A
    ready.arrive_and_wait();
    sum += row[blockDim.x - 1 - threadIdx.x]; // @B
  }
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
