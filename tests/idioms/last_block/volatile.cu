// Sum over a grid in one launch, as CUDA's programming guide describes it: volatile partial sums,
// so that no cache keeps old ones, and a fence before the counter, so that they come in order. Behind
// the counter stands a barrier, which volatile reads do not overtake.
// launch: --arch sm_80 --grid 4 --block 96 --arg list:u32[3*384] --arg out:16 --arg zeros:u32[1]
// launch: --arg out:4
// want 2 u32: 0
// want 3 u32: 1152
// expect: pass
// twin release: nondeterministic global @A @B
// twin release_scope: nondeterministic global @A @B
// twin barrier: race shared @S @T
// twin flag_barrier: race shared @L @M
// twin flag_barrier: nondeterministic global @A @B
__global__ void grid_sum(const unsigned* x, volatile unsigned* partial, unsigned* arrived,
                         unsigned* total) {
  __shared__ unsigned sums[3];
  __shared__ bool last;
  unsigned v = __reduce_add_sync(~0u, x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v; // @S
  __syncthreads(); // ~barrier
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0] + sums[1] + sums[2]; // @A @T
    __threadfence(); // ~release ~release_scope{__threadfence() => __threadfence_block()}
    unsigned before = atomicInc(arrived, gridDim.x - 1);
    last = before == gridDim.x - 1; // @L
  }
  __syncthreads(); // ~flag_barrier
  if (last && threadIdx.x < 32) { // @M
    unsigned sum = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0; // @B
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x == 0) *total = sum;
  }
}
