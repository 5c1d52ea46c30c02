// Sum over a grid in one launch: the block that arrives last adds up what the others left. Plain
// data, a relaxed counter with fences on both sides.
// launch: --arch sm_80 --grid 4 --block 96 --arg list:u32[3*384] --arg out:16 --arg zeros:u32[1]
// launch: --arg out:4
// want 2 u32: 0
// want 3 u32: 1152
// expect: pass
// twin release: race global @A @B
// twin release_scope: race global @A @B
// twin acquire: race global @A @B
// twin acquire_scope: race global @A @B
// twin counter_scope: race global @C @C
// twin counter_scope: race global @C @D
// twin barrier: race shared @S @T
__global__ void grid_sum(const unsigned* x, unsigned* partial, unsigned* arrived, unsigned* total) {
  __shared__ unsigned sums[3];
  __shared__ bool last;
  unsigned v = __reduce_add_sync(~0u, x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v; // @S
  __syncthreads(); // ~barrier
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (int w = 0; w < 3; ++w) sum += sums[w]; // @T
    partial[blockIdx.x] = sum; // @A
    __threadfence(); // ~release ~release_scope{__threadfence() => __threadfence_block()}
    unsigned before = atomicAdd(arrived, 1); // @C ~counter_scope{atomicAdd => atomicAdd_block}
    last = before == gridDim.x - 1;
    __threadfence(); // ~acquire ~acquire_scope{__threadfence() => __threadfence_block()}
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    unsigned sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b]; // @B
    *total = sum;
    *arrived = 0; // @D
  }
}
