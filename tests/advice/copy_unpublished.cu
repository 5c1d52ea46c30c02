// One block adds, another one copies the sums by cp.async when a flag is up; no fence comes before the flag.
// launch: --arch sm_80 --grid 2 --block 32 --arg zeros:u32[64] --arg zeros:u32[1] --arg zeros:u32[32]
// help: __threadfence() before the flag's store at copy_unpublished.cu:14
// not: make the access at
#include <cuda_pipeline.h>
__global__ void hand_over(unsigned* sums, unsigned* flag, unsigned* out) {
  __shared__ __align__(16) unsigned tile[32];
  const int t = threadIdx.x;
  if (blockIdx.x == 0) {
    atomicAdd(&sums[t], t + 1); // @A
#ifdef SOUND
    __syncwarp(), __threadfence();
#endif
    __syncwarp(); if (t == 0) atomicExch(flag, 1u);
    return;
  }
  if (t == 0) {
    while (atomicAdd(flag, 0u) == 0) {}
    __threadfence();
  }
  __syncwarp();
  __pipeline_memcpy_async(&tile[t], &sums[t], 4); // @B
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncwarp();
  out[t] = tile[31 - t];
}
