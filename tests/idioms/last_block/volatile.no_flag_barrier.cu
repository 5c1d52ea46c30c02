// volatile.cu without `flag_barrier`; written by tests/idioms/derive.py.
// Sum over a grid in one launch, as CUDA's programming guide describes it: volatile partial sums,
// so that no cache keeps old ones, and a fence before the counter, so that they come in order. Behind
// the counter stands a barrier, which volatile reads do not overtake.
// launch: --arch sm_80 --grid 4 --block 96 --arg list:u32[3*384] --arg out:16 --arg zeros:u32[1]
// launch: --arg out:4
// expect: race shared @L @M
// expect: nondeterministic global @A @B
__global__ void grid_sum(const unsigned* x, volatile unsigned* partial, unsigned* arrived,
                         unsigned* total) {
  __shared__ unsigned sums[3];
  __shared__ bool last;
  unsigned v = __reduce_add_sync(~0u, x[blockIdx.x * blockDim.x + threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v; // @S
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0] + sums[1] + sums[2]; // @A @T
    __threadfence();
    unsigned before = atomicInc(arrived, gridDim.x - 1);
    last = before == gridDim.x - 1; // @L
  }
  if (last && threadIdx.x < 32) { // @M
    unsigned sum = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0; // @B
    sum = __reduce_add_sync(~0u, sum);
    if (threadIdx.x == 0) *total = sum;
  }
}
