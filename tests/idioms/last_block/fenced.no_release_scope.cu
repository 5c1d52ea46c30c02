// fenced.cu without `release_scope`; written by tests/idioms/derive.py.
// Sum over a grid in one launch: the block that arrives last adds up what the others left. Plain
// data, a relaxed counter with fences on both sides.
// launch: --arch sm_80 --grid 4 --block 96 --arg list:u32[3*384] --arg out:16 --arg zeros:u32[1]
// launch: --arg out:4
// expect: race global @A @B
__global__ void grid_sum(const unsigned* x, unsigned* partial, unsigned* arrived, unsigned* total) {
  __shared__ unsigned sums[3];
  __shared__ bool last;
  unsigned v = __reduce_add_sync(~0u, x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v; // @S
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (int w = 0; w < 3; ++w) sum += sums[w]; // @T
    partial[blockIdx.x] = sum; // @A
    __threadfence_block();
    unsigned before = atomicAdd(arrived, 1); // @C
    last = before == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    unsigned sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b]; // @B
    *total = sum;
    *arrived = 0; // @D
  }
}
