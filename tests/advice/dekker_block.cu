// Who comes second gives way: each of two warps raises its flag and looks at the other's; both may go in.
// launch: --arch sm_80 --grid 1 --block 64 --arg zeros:s32[1]
// help: seq_cst
// not: __sync
__global__ void enter(int* total) {
  __shared__ volatile int flags[2];
  __shared__ int sum;
  if (threadIdx.x < 2) flags[threadIdx.x] = 0;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    int me = threadIdx.x / 32;
    flags[me] = 1;
#ifdef SOUND
    __threadfence_block();
#endif
    if (flags[1 - me] == 0) sum += me + 1;
  }
  __syncthreads();
#ifdef SOUND
  if (threadIdx.x == 0) *total = sum < 3;
#else
  if (threadIdx.x == 0) *total = sum;
#endif
}
