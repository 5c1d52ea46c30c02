// cuda::barrier: everybody arrives, and nobody waits.
// launch: --arch sm_80 --grid 1 --block 64 --arg out:256
// help: wait for the phase of the arrival at barrier_arrive_only.cu:15
// not: fixed order
#include <cuda/barrier>
#pragma nv_diag_suppress static_var_with_dynamic_init
__global__ void exchange(unsigned* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> full;
  __shared__ unsigned bins[64];
  if (threadIdx.x == 0) init(&full, 64);
  bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[(threadIdx.x * 9) & 63], threadIdx.x); // @A
#ifndef SOUND
  (void)full.arrive();
#else
  full.arrive_and_wait();
#endif
  out[threadIdx.x] = atomicOr(&bins[63 - threadIdx.x], 0u); // @B
}
