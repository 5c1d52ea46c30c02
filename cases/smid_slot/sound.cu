// Sum over a grid: each block adds to one of eight partial sums.
// Blocks have partial sums of their own.
// expect: pass
__global__ void partial_sums(const unsigned* x, unsigned* partial) {
  unsigned slot = blockIdx.x;
  unsigned v = __reduce_add_sync(0xffffffffu, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, v);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&partial[slot], sum);
}
