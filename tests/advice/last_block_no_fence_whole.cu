// All threads of a block report, thread 0 counts the block without a fence, and the last one looks.
// launch: --arch sm_80 --grid 2 --block 128 --arg zeros:u32[4] --arg out:4
// help: __threadfence() before the counter's update at last_block_no_fence_whole.cu:12
__global__ void report(unsigned* a, unsigned* out) {
  atomicOr(&a[blockIdx.x], 1u << (threadIdx.x & 31)); // @A
  __syncthreads();
  if (threadIdx.x == 0) {
#ifdef SOUND
    __threadfence();
#endif
    // the block is counted
    if (atomicAdd(&a[3], 1u) == 1) {
      __threadfence();
      *out = (atomicAdd(&a[0], 0u) != 0) + (atomicAdd(&a[1], 0u) != 0); // @B
    }
  }
}
