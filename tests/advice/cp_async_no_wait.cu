// An asynchronous copy is read without a wait.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:f32[64] --arg out:256
// help: __pipeline_wait_prior(0)
#include <cuda_pipeline.h>

__global__ void reverse(const float* x, float* y) {
  __shared__ float s[64];
  __pipeline_memcpy_async(&s[threadIdx.x], &x[threadIdx.x], 4); // @A
  __pipeline_commit();
#ifdef SOUND
  __pipeline_wait_prior(0);
#endif
  __syncthreads();
  y[threadIdx.x] = s[63 - threadIdx.x]; // @B
}
