// Sum over a grid by the block that arrives last, launched twice.
// Defect: nobody sets the counter back, and in the second launch no block is the last.
// expect: unwritten-output
__device__ unsigned arrived = 0;

__global__ void grid_sum(const unsigned* x, unsigned* partial, unsigned* total) {
  unsigned v = x[blockIdx.x * blockDim.x + threadIdx.x];
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, v);
  __syncthreads();
  if (threadIdx.x > 0) return;
  partial[blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(&arrived, 1u) != gridDim.x - 1) return;
  __threadfence();
  sum = 0;
  for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
  *total = sum;
}
