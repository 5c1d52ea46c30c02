// cuda::barrier: one meeting a turn, where the buffer that is filled again would want two.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:f32[512] --arg out:256
// help: after line 18, before line 16 is executed again
#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void sums(const float* x, float* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  __shared__ float row[64];
  if (threadIdx.x == 0) init(&ready, 64);
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    float v = x[k * 64 + threadIdx.x];
    row[threadIdx.x] = v; // @A
    ready.arrive_and_wait();
    sum += row[63 - threadIdx.x]; // @B
#ifdef SOUND
    ready.arrive_and_wait();
#endif
  }
  y[threadIdx.x] = sum;
}
