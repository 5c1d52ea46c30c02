// Column sums of tiles that come through a cuda::pipeline of the block with two stages.
// Defect: the stage is given back before it is read.
// expect: race shared @A @B
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

__global__ void column_sums(const unsigned* x, unsigned* sums, int tiles) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ alignas(16) unsigned ring[2][1024];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int t = threadIdx.x, n = blockDim.x;
  unsigned sum = 0;
  for (int k = 0, next = 0; k < tiles; ++k) {
    for (; next < tiles && next < k + 2; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, ring[next % 2], x + (blockIdx.x * tiles + next) * n, 4 * n, pipe); // @A
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    pipe.consumer_release();
    sum += ring[k % 2][n - 1 - t]; // @B
  }
  sums[blockIdx.x * n + t] = sum;
}
