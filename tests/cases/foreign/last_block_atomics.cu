// The sum by the last block, all of it with atomics: the fence orders a block's update before its
// turn at the counter.
// launch: --entry total --grid 8 --block 32 --arg inlist:u32[1*256] --arg zeros:u32[2] --arg out:4
// want 2 u32: 256
// expect: pass
__device__ void add(unsigned* p, unsigned v) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
__device__ unsigned look(unsigned* p) {
  unsigned v;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 0;" : "=r"(v) : "l"(p) : "memory");
  return v;
}
extern "C" __global__ void total(const unsigned* x, unsigned* state, unsigned* sum) {
  add(&state[0], x[blockIdx.x * 32 + threadIdx.x]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&state[1], 1) == gridDim.x - 1) {
    __threadfence();
    *sum = look(&state[0]);
  }
}
