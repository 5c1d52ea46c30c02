// One warp announces a value to another of its block by a flag; the reader polls it and has no fence.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:s32[1] --arg zeros:s32[1]
// help: __threadfence_block() after
// not: __sync
__global__ void hand_over(const int* x, int* y) {
  __shared__ int value;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    value = *x;
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    while (flag == 0) {
    }
#ifdef SOUND
    __threadfence_block();
#endif
    *y = value;
  }
}
