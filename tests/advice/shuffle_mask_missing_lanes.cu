// A shuffle with a full mask that half of the lanes never come to: they wait at another one.
// launch: --arch sm_80 --grid 1 --block 32 --arg rand:s32[32] --arg out:128
// kind: deadlock
// help: all lanes that the mask names
__global__ void exchange(const int* x, int* y) {
  int v = x[threadIdx.x];
#ifdef SOUND
  v += __shfl_xor_sync(0xffffffff, v, 1);
#else
  if (threadIdx.x < 16)
    v += __shfl_down_sync(0xffffffff, v, 1); // @A
  else
    v += __shfl_up_sync(0xffffffff, v, 1); // @B
#endif
  y[threadIdx.x] = v;
}
