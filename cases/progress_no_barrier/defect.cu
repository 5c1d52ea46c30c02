// A wavefront: each block waits for the one before it, adds that one's row to its own, and says so.
// Defect: thread 0 says so when its own element is there; other warps may still be writing theirs.
// expect: race global @A @A
__device__ volatile unsigned rows_done = 0;

__global__ void wavefront(const unsigned* x, unsigned* sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) {
    while (rows_done != blockIdx.x) {
    }
    __threadfence();
  }
  __syncthreads();
  sums[i] = x[i] + (blockIdx.x > 0 ? sums[i - blockDim.x] : 0); // @A
  __threadfence();
  if (threadIdx.x == 0) rows_done = blockIdx.x + 1;
}
