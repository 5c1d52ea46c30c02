// Sum over a grid: each block adds to one of eight partial sums.
// Defect: which one is the multiprocessor it runs on, so that the partial sums follow who ran where.
// expect: nondeterministic @A
__global__ void partial_sums(const unsigned* x, unsigned* partial) {
  unsigned slot;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(slot)); // @A
  slot %= 8;
  unsigned v = __reduce_add_sync(0xffffffffu, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, v);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&partial[slot], sum);
}
