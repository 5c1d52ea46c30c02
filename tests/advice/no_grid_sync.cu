// A second pass reads what other blocks wrote in the first, with a barrier of the own block only.
// launch: --arch sm_80 --grid 4 --block 32 --arg rand:s32[128] --arg out:512 --arg out:512 --cooperative
// help: grid
#include <cooperative_groups.h>

__global__ void two_passes(const int* x, int* mid, int* y) {
  int i = blockIdx.x * 32 + threadIdx.x;
  mid[i] = x[i] * 3; // @A
#ifdef SOUND
  cooperative_groups::this_grid().sync();
#else
  __syncthreads();
#endif
  y[i] = mid[127 - i]; // @B
}
