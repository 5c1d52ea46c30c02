// Sums up to each block by decoupled look-back: a block publishes the sum of all up to itself and a
// flag, and the next one waits for the flag.
// expect: pass
__device__ volatile int ready[1024];

__global__ void running_sums(const unsigned* x, unsigned* sums) {
  __shared__ unsigned own;
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  atomicAdd(&own, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned before = 0;
    if (blockIdx.x > 0) {
      while (ready[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + own;
    __threadfence();
    ready[blockIdx.x] = 1;
  }
}
