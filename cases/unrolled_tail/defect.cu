// Block sum in a tree whose last steps run in one warp.
// Defect: no __syncwarp between those steps, as if the lanes of a warp ran in step.
// expect: race shared @A @A
__global__ void block_sums(const float* x, float* sums) {
  __shared__ float scratch[1024];
  int tid = threadIdx.x;
  scratch[tid] = x[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (int half = blockDim.x / 2; half >= 32; half /= 2) {
    if (tid < half) scratch[tid] += scratch[tid + half];
    __syncthreads();
  }
  if (tid < 32) {
    for (int offset = 16; offset > 0; offset /= 2) {
      if (tid < offset) scratch[tid] += scratch[tid + offset]; // @A
    }
    if (tid == 0) sums[blockIdx.x] = scratch[0];
  }
}
