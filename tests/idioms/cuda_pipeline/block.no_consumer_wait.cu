// block.cu without `consumer_wait`; written by tests/idioms/derive.py.
// Sums columns of tiles that come through a cuda::pipeline of the block with two stages.
// launch: --arch sm_80 --grid 2 --block 64 --arg rand:u32[1024] --arg out:512
// expect: race shared
// expect: nondeterministic shared
// expect: illegal-operation shared
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__global__ void column_sums(const unsigned* x, unsigned* y) {
  constexpr int kStages = 2;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ unsigned ring[kStages][64];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  const unsigned* from = x + blockIdx.x * 512;
  unsigned sum = 0;
#pragma unroll 1
  for (int compute = 0, fetch = 0; compute < 8; ++compute) {
    for (; fetch < 8 && fetch < compute + kStages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, ring[fetch % kStages], from + fetch * 64, 256, pipe);
      pipe.producer_commit();
    }
    sum += ring[compute % kStages][63 - threadIdx.x]; // @R
    pipe.consumer_release();
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}
