// A producer block fills a message and raises a flag; the consumer block waits for it.
__device__ int ready;

__global__ void handoff(const float* x, float* message, float* y) {
  int i = threadIdx.x;
  if (blockIdx.x == 0) {
    message[i] = 2.0f * x[i];
    __syncthreads();
    if (i == 0) {
      __threadfence_block();
      atomicExch(&ready, 1);
    }
  } else {
    if (i == 0) {
      while (atomicAdd(&ready, 0) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    y[i] = message[i] + 1.0f;
  }
}
