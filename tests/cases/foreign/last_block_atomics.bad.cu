// The same without a fence: the last block may come before an update that another block made, and
// the barrier orders nothing for threads of other blocks.
// launch: --entry total --grid 8 --block 32 --arg inlist:u32[1*256] --arg zeros:u32[2] --arg out:4
// expect: nondeterministic global @A @B
extern "C" __global__ void total(const unsigned* x, unsigned* state, unsigned* sum) {
  atomicAdd(&state[0], x[blockIdx.x * 32 + threadIdx.x]); // @A
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&state[1], 1) == gridDim.x - 1)
    *sum = atomicAdd(&state[0], 0); // @B
}
