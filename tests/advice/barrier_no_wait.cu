// cuda::barrier: everyone arrives, nobody waits.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:s32[64] --arg out:256
// help: wait
#include <cuda/barrier>
#include <cuda/std/utility>

#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void reverse(const int* x, int* y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> meeting;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&meeting, 64);
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x]; // @A
  auto token = meeting.arrive();
#ifdef SOUND
  meeting.wait(cuda::std::move(token));
#endif
  y[threadIdx.x] = s[63 - threadIdx.x]; // @B
}
