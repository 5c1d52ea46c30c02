// producer_consumer.cu without `full_wait`; written by tests/idioms/derive.py.
// A producer warp and a consumer warp, a full and an empty cuda::barrier for each of two stages.
// launch: --arch sm_80 --grid 2 --block 64 --arg rand:u32[512] --arg out:256
// expect: race shared @A @B
// expect: deadlock
// expect: illegal-operation shared
#include <cuda/barrier>
#include <utility>

__global__ void weighted_sums(const unsigned* x, unsigned* y) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier full[2], empty[2];
  __shared__ unsigned stage[2][32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 2) {
    init(&full[threadIdx.x], 64);
    init(&empty[threadIdx.x], 64);
  }
  __syncthreads();
  if (threadIdx.x < 32) {
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
      auto token = empty[k % 2].arrive();
      empty[k % 2].wait(std::move(token));
      stage[k % 2][lane] = x[(blockIdx.x * 8 + k) * 32 + lane]; // @A
      full[k % 2].arrive();
    }
  } else {
    empty[0].arrive();
    empty[1].arrive();
    unsigned sum = 0;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
      auto token = full[k % 2].arrive();
      sum += (k + 1) * stage[k % 2][31 - lane]; // @B
      empty[k % 2].arrive();
    }
    y[blockIdx.x * 32 + lane] = sum;
  }
}
