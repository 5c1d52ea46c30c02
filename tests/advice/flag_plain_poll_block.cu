// The same within a block.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:s32[1] --arg out:4
// help: volatile
// not: __syncthreads
__global__ void hand_over(const int* x, int* y) {
  __shared__ int data, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = *x * 3;
    __threadfence_block();
    atomicExch(&flag, 1);
  } else if (threadIdx.x == 32) {
#ifdef SOUND
    while (atomicAdd(&flag, 0) == 0) {
    }
#else
    while (flag == 0) __nanosleep(20);
#endif
    __threadfence_block();
    *y = data;
  }
}
