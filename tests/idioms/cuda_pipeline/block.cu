// Sums columns of tiles that come through a cuda::pipeline of the block with two stages.
// launch: --arch sm_80 --grid 2 --block 64 --arg rand:u32[1024] --arg out:512
// expect: pass
// twin consumer_wait: race shared
// twin consumer_wait: nondeterministic shared
// twin consumer_wait: illegal-operation shared
// twin consumer_release: deadlock
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
    pipe.consumer_wait(); // ~consumer_wait
    sum += ring[compute % kStages][63 - threadIdx.x]; // @R
    pipe.consumer_release(); // ~consumer_release
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}
