// Spreads the threads of a block evenly over eight bins.
// expect: pass proved
#ifndef __CUDACC_RTC__
#include <cassert>
#endif

__global__ void spread(int* bins) {
  int bin = threadIdx.x * 8 / blockDim.x;
  assert(bin < 8);
  bins[blockIdx.x * blockDim.x + threadIdx.x] = bin;
}
