// pipeline_primitives.cu without `release_barrier`; written by tests/idioms/derive.py.
// Sums columns of tiles that come through a ring of three stages by the pipeline primitives; the ring
// is filled for later only after everybody has read the stage.
// launch: --arch sm_80 --grid 2 --block 64 --arg out:512
// launch: --arg list:u32[1*64,2*64,3*64,4*64,5*64,6*64,7*64,8*64,1*64,2*64,3*64,4*64,5*64,6*64,7*64,8*64]
// expect: race shared @C @R
#include <cuda_pipeline.h>

__global__ void column_sums(unsigned* y, const unsigned* x) {
  __shared__ unsigned ring[3][64];
  const unsigned* from = x + blockIdx.x * 512 + threadIdx.x;
  auto fetch = [&](int k) {
    if (k < 8) __pipeline_memcpy_async(&ring[k % 3][threadIdx.x], from + k * 64, 4); // @C
    __pipeline_commit();
  };
  fetch(0), fetch(1), fetch(2);
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    __pipeline_wait_prior(2);
    __syncthreads();
    sum += ring[k % 3][63 - threadIdx.x]; // @R
    fetch(k + 3);
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}
