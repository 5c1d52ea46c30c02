// A cell that some threads set to what it holds while others read it: no race that matters, and no two stores.
// launch: --arch sm_80 --grid 1 --block 64 --arg zeros:s32[1] --arg zeros:s32[64]
// note: one writes, the other reads
__global__ void mark(int* flag, int* y) {
#ifndef SOUND
  if (threadIdx.x == 0) *flag = 0;
#endif
  if (threadIdx.x >= 32) y[threadIdx.x] = *flag;
}
