// Block sums that fold the upper half of the block onto the lower one first.
// Defect: only the lower half's warps reach the barrier inside the branch. The upper half pairs it
// with the barrier after the branch.
// expect: barrier-divergence @A @B
__global__ void fold_sums(const float* x, float* sums) {
  __shared__ float scratch[1024];
  int tid = threadIdx.x, half = blockDim.x / 2;
  scratch[tid] = x[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  if (tid < half) {
    scratch[tid] += scratch[tid + half];
    __syncthreads(); // @A
  }
  if (tid == 0) {
    float sum = 0.0f;
    for (int j = 0; j < half; ++j) sum += scratch[j];
    scratch[0] = sum;
  }
  __syncthreads(); // @B
  if (tid == blockDim.x - 1) sums[blockIdx.x] = scratch[0];
}
