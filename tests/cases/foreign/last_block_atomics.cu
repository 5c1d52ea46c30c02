// The sum by the last block, all of it with atomics: the fence orders a block's update before its
// turn at the counter.
// launch: --entry total --grid 8 --block 32 --arg inlist:u32[1*256] --arg zeros:u32[2] --arg out:4
// want 2 u32: 256
// expect: pass
extern "C" __global__ void total(const unsigned* x, unsigned* state, unsigned* sum) {
  atomicAdd(&state[0], x[blockIdx.x * 32 + threadIdx.x]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&state[1], 1) == gridDim.x - 1) {
    __threadfence();
    *sum = atomicAdd(&state[0], 0);
  }
}
