// match_any.cu without `flush_barrier`; written by tests/idioms/derive.py.
// Histogram over sixteen bins: of the lanes of a warp with one bin, the first adds for all. Bins of
// the block first, then those of the grid.
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[3*40,7*40,11*48] --arg zeros:u32[16]
// expect: race shared @A @F
__global__ void histogram(const unsigned* x, unsigned* bins) {
  __shared__ unsigned own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0; // @Z
  __syncthreads();
  unsigned bin = x[blockIdx.x * blockDim.x + threadIdx.x] % 16;
  unsigned same = __match_any_sync(0xffffffffu, bin);
  if (threadIdx.x % 32 == __ffs(same) - 1) atomicAdd(&own[bin], __popc(same)); // @A
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]); // @F
}
