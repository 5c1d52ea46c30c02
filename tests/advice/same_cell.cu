// All threads write their own value to one place.
// launch: --arch sm_80 --grid 1 --block 32 --arg rand:s32[32] --arg out:4
// help: one
__global__ void any(const int* x, int* y) {
#ifdef SOUND
  if (threadIdx.x == 0)
#endif
    *y = x[threadIdx.x]; // @A
}
