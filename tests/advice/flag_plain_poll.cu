// A flag of another block is polled with plain loads.
// launch: --arch sm_80 --grid 2 --block 32 --arg rand:s32[1] --arg zeros:s32[1] --arg zeros:s32[1] --arg out:4
// help: atomic or volatile
__global__ void hand_over(const int* x, int* data, int* flag, int* y) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = *x * 3;
    __threadfence();
    atomicExch(flag, 1);
  } else {
#ifdef SOUND
    while (atomicAdd(flag, 0) == 0) {
    }
#else
    while (*flag == 0) {
      __nanosleep(20);
    }
#endif
    __threadfence();
    *y = *data;
  }
}
