// Spreads the threads of a block evenly over eight bins.
// Defect: the last thread's bin is one too high, and an assertion says so.
// expect: assert @A
#ifndef __CUDACC_RTC__
#include <cassert>
#endif

__global__ void spread(int* bins) {
  int bin = threadIdx.x * 8 / (blockDim.x - 1);
  assert(bin < 8); // @A
  bins[blockIdx.x * blockDim.x + threadIdx.x] = bin;
}
