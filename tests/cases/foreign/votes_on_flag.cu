// Block 0 waits for a flag that one of its threads polls and all vote on.
// launch: --entry vote --grid 2 --block 64 --arg zeros:u32[1] --arg list:u32[1*64] --arg out:256
// expect: pass
extern "C" __global__ void vote(unsigned* flag, unsigned* data, unsigned* out) {
  if (blockIdx.x == 1) {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    __threadfence();
#ifdef NEVER_RAISED
    if (threadIdx.x == 0) *(volatile unsigned*)flag = 2;
#else
    if (threadIdx.x == 0) *(volatile unsigned*)flag = 1;
#endif
    return;
  }
  while (!__syncthreads_or(threadIdx.x == 0 && *(volatile unsigned*)flag == 1)) {
  }
  __threadfence();
  __syncthreads();
  out[threadIdx.x] = ((volatile unsigned*)data)[threadIdx.x];
}
