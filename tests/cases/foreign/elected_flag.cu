// The lane that elect.sync elects writes for another warp, and lane 0 raises the flag behind a
// __syncwarp(). Which lane is elected is open: without it, only lane 0 itself could publish that.
// launch: --entry hand_over --grid 1 --block 64 --arch sm_90 --arg list:u32[7] --arg out:4
// want 1 u32: 8
// expect: pass
__device__ bool elected() {
  unsigned p;
  asm volatile("{ .reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(p)::"memory");
  return p != 0;
}
extern "C" __global__ void hand_over(const unsigned* x, unsigned* y) {
  __shared__ unsigned data, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    if (elected()) data = *x + 1;
    __syncwarp();
    if (threadIdx.x == 0) {
      __threadfence_block();
      atomicExch(&flag, 1);
    }
  } else if (threadIdx.x == 32) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    __threadfence_block();
    *y = data;
  }
}
