// Data and flag are volatile, which orders neither.
// launch: --arch sm_80 --grid 2 --block 32 --arg rand:s32[1] --arg zeros:s32[1] --arg zeros:s32[1] --arg out:4
// help: __threadfence()
__global__ void hand_over(const int* x, volatile int* data, volatile int* flag, int* y) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = *x | 1; // @A
#ifdef SOUND
    __threadfence();
#endif
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
#ifdef SOUND
    __threadfence();
#endif
    *y = *data; // @B
  }
}
