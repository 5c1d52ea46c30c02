// The last block sums up. One fence of thread 0 publishes what the block did, but it does not wait for the block.
// launch: --arch sm_80 --grid 4 --block 64 --arg zeros:u32[4] --arg zeros:u32[1] --arg out:4
// help: add __syncthreads() between line 7 and line
// not: fixed order
__global__ void reduce(unsigned* bins, unsigned* count, unsigned* out) {
  // each thread adds its part
  atomicAdd(&bins[threadIdx.x & 3], threadIdx.x + blockIdx.x); // @A
#ifdef SOUND
  __syncthreads();
#endif
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(count, 1) == gridDim.x - 1) {
      __threadfence();
      unsigned all = 0;
      for (int i = 0; i < 4; ++i) all = all * 31 + atomicAdd(&bins[i], 0u); // @B
      *out = all;
    }
  }
}
