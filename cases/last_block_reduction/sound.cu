// Sum over a grid in one launch: each block leaves its partial sum, and the block that arrives last
// adds them up. Fences on both sides of the counter make it a release and an acquire.
// expect: pass
__device__ unsigned arrived = 0;

__global__ void grid_sum(const float* x, float* partial, float* total) {
  __shared__ float terms[1024];
  __shared__ bool last;
  int tid = threadIdx.x;
  terms[tid] = x[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  if (tid == 0) {
    float sum = 0.0f;
    for (int j = 0; j < blockDim.x; ++j) sum += terms[j];
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && tid == 0) {
    float sum = 0.0f;
    for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
    *total = sum;
  }
}
