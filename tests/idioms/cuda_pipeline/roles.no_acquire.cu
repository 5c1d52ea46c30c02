// roles.cu without `acquire`; written by tests/idioms/derive.py.
// A cuda::pipeline of the block with roles: warp 0 copies rows, warps 1 and 2 use them.
// launch: --arch sm_80 --grid 2 --block 96 --arg rand:u32[1024] --arg out:512
// expect: race shared
// expect: deadlock
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__global__ void column_sums(const unsigned* x, unsigned* y) {
  constexpr int kStages = 2;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ unsigned ring[kStages][64];
  auto block = cg::this_thread_block();
  unsigned t = threadIdx.x;
  bool producer = t < 32;
  auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  if (producer) {
    const unsigned* from = x + blockIdx.x * 512;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
      for (unsigned i = t; i < 64; i += 32) cuda::memcpy_async(&ring[k % kStages][i], from + k * 64 + i, 4, pipe);
      pipe.producer_commit();
    }
  } else {
    unsigned sum = 0;
#pragma unroll 1
    for (int k = 0; k < 8; ++k) {
      pipe.consumer_wait();
      sum += ring[k % kStages][95 - t];
      pipe.consumer_release();
    }
    y[blockIdx.x * 64 + t - 32] = sum;
  }
}
