// Even blocks hand a tile to the odd block after them and raise a flag.
// Defect: the flag is volatile, but no fence ties the tile to it.
// expect: race global @A @B
__device__ volatile int ready[1024];

__global__ void hand_over(const float* x, float* mail, float* y) {
  int pair = blockIdx.x / 2;
  int i = pair * blockDim.x + threadIdx.x;
  if (blockIdx.x % 2 == 0) {
    mail[i] = 2.0f * x[i]; // @A
    __syncthreads();
    if (threadIdx.x == 0) ready[pair] = 1;
  } else {
    if (threadIdx.x == 0)
      while (ready[pair] == 0) {
      }
    __syncthreads();
    y[i] = mail[i]; // @B
  }
}
