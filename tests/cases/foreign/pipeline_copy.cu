// Tiles of 16 bytes by __pipeline_memcpy_async, block of 8 x 3; the neighbour's part is read.
// launch: --entry k --grid 2 --block 8,3 --arg rand:f32[192] --arg out:768
// expect: pass proved
// Not proved with -G: its addresses pass through local memory then, on the way to the assertions of
// the library, where their flow is not followed exactly.
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float4* x, float4* y) {
  __shared__ float4 tile[24];
  int thread = threadIdx.y * 8 + threadIdx.x;
  __pipeline_memcpy_async(&tile[thread], &x[blockIdx.x * 24 + thread], sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  y[blockIdx.x * 24 + thread] = tile[(thread + 1) % 24];
}
