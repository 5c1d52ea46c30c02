// acquire.cu without `flag_barrier`; written by tests/idioms/derive.py.
// Sum over a grid in one launch: the counter's atomic releases this block's partial sum and
// acquires those of the others (atom.acq_rel in inline PTX).
// launch: --arch sm_80 --grid 4 --block 96 --arg list:u32[3*384] --arg out:16 --arg zeros:u32[1]
// launch: --arg out:4
// expect: race shared @L @M
// expect: race global @A @B
__device__ unsigned arrive(unsigned* counter) {
  unsigned before;
  asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;"
               : "=r"(before)
               : "l"(counter) // @C
               : "memory");
  return before;
}

__global__ void grid_sum(const unsigned* x, unsigned* partial, unsigned* arrived, unsigned* total) {
  __shared__ unsigned sum;
  __shared__ bool last;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum; // @A
    last = arrive(arrived) == gridDim.x - 1; // @L
  }
  if (last && threadIdx.x < 32) { // @M
    unsigned v = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0; // @B
    v = __reduce_add_sync(~0u, v);
    if (threadIdx.x == 0) *total = v, *arrived = 0; // @D
  }
}
