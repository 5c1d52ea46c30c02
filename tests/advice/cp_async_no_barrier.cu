// A wait for one's own copies, and no barrier for those of others.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:f32[64] --arg out:256
// help: __syncthreads() between the wait
#include <cuda_pipeline.h>

__global__ void reverse(const float* x, float* y) {
  __shared__ float s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); // @A
  __pipeline_commit();
  __pipeline_wait_prior(0);
#ifdef SOUND
  __syncthreads();
#endif
  y[threadIdx.x] = s[63 - threadIdx.x]; // @B
}
