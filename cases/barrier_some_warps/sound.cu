// Block sums that fold the upper half of the block onto the lower one first. The upper half returns
// early: a thread that has exited counts as arrived at every later barrier.
// expect: pass proved
__global__ void fold_sums(const float* x, float* sums) {
  __shared__ float scratch[1024];
  int tid = threadIdx.x, half = blockDim.x / 2;
  scratch[tid] = x[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  if (tid >= half) return;
  scratch[tid] += scratch[tid + half];
  __syncthreads();
  if (tid == 0) {
    float sum = 0.0f;
    for (int j = 0; j < half; ++j) sum += scratch[j];
    scratch[0] = sum;
  }
  __syncthreads();
  if (tid == half - 1) sums[blockIdx.x] = scratch[0];
}
