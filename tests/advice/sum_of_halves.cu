// Rounding makes the order of atomic additions visible. No fence helps: nobody looks at what the others have added.
// launch: --arch sm_80 --grid 3 --block 20 --arg rand:f16[120] --arg inlist:f16[0,0]
// help: fixed order
// not: fence
#include <cuda_fp16.h>
__global__ void sum(const __half2* x, __half2* y) {
#ifdef SOUND
  if (blockIdx.x || threadIdx.x) return;
  __half2 all = *y;
  for (int i = 0; i < 60; ++i) all = __hadd2(all, x[i]);
  *y = all;
#else
  __half2 v = x[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(y, v); // @A
#endif
}
