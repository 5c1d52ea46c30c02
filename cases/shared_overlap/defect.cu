// Row sums and row maxima, both left in dynamic shared memory by one thread a warp.
// Defect: the second array starts at the number of warps in bytes, and overlaps the first.
// expect: race shared @A @B
extern __shared__ unsigned cells[];

__global__ void sums_and_maxima(const unsigned* x, unsigned* sums, unsigned* maxima) {
  int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  unsigned v = x[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned* largest = cells + warps / 4;
  unsigned sum = __reduce_add_sync(0xffffffffu, v), most = __reduce_max_sync(0xffffffffu, v);
  if (threadIdx.x % 32 == 0) cells[warp] = sum; // @A
  if (threadIdx.x % 32 == 1) largest[warp] = most; // @B
  __syncthreads();
  if (threadIdx.x > 0) return;
  sum = most = 0;
  for (int w = 0; w < warps; ++w) sum += cells[w], most = max(most, largest[w]);
  sums[blockIdx.x] = sum, maxima[blockIdx.x] = most;
}
