// Even blocks hand a tile to the odd block after them and raise a flag.
// expect: pass
__device__ int ready[1024];

__global__ void hand_over(const float* x, float* mail, float* y) {
  int pair = blockIdx.x / 2, i = pair * blockDim.x + threadIdx.x;
  if (blockIdx.x % 2 == 0) {
    mail[i] = 2.0f * x[i];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(&ready[pair], 1);
    }
  } else {
    if (threadIdx.x == 0) {
      while (atomicAdd(&ready[pair], 0) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    y[i] = mail[i];
  }
}
