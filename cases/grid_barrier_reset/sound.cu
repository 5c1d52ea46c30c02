// Two phases with a barrier over the grid between them: every block counts itself and waits until
// all are counted.
// The counter only grows, and starts from what the launch before left.
// expect: pass
__device__ unsigned arrived = 0;

__global__ void two_phases(const float* x, float* half, float* y) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  half[i] = 0.5f * x[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    unsigned ticket = atomicAdd(&arrived, 1u), goal = (ticket / gridDim.x + 1) * gridDim.x;
    while (*(volatile unsigned*)&arrived < goal) {
    }
    __threadfence();
  }
  __syncthreads();
  y[i] = half[i] + half[(i + blockDim.x) % n];
}
