// The same without a fence: the last block may come before an update that another block made, and
// the barrier orders nothing for threads of other blocks.
// launch: --entry total --grid 8 --block 32 --arg inlist:u32[1*256] --arg zeros:u32[2] --arg out:4
// expect: nondeterministic global @A @B
__device__ void add(unsigned* p, unsigned v) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); // @A
}
__device__ unsigned look(unsigned* p) {
  unsigned v;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 0;" : "=r"(v) : "l"(p) : "memory"); // @B
  return v;
}
extern "C" __global__ void total(const unsigned* x, unsigned* state, unsigned* sum) {
  add(&state[0], x[blockIdx.x * 32 + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&state[1], 1) == gridDim.x - 1)
    *sum = look(&state[0]);
}
