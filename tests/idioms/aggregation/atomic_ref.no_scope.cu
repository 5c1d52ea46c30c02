// atomic_ref.cu without `scope`; written by tests/idioms/derive.py.
// Number of elements above a limit: the lanes of a warp that found one agree on their share in
// shared memory, and the first of them adds it with cuda::atomic_ref.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:s32[5*100,-5*92] --arg zeros:u32[1]
// expect: race global @A @A
#include <cooperative_groups.h>
#include <cuda/atomic>
namespace cg = cooperative_groups;

__global__ void above(const int* x, unsigned* count) {
  __shared__ unsigned cells[64];
  bool wanted = x[blockIdx.x * blockDim.x + threadIdx.x] > 0;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto group = cg::binary_partition(warp, wanted);
  if (!wanted) return;
  unsigned* mine = cells + threadIdx.x / 32 * 32;
  mine[group.thread_rank()] = 1; // @S
  group.sync();
  if (group.thread_rank() > 0) return;
  unsigned share = 0;
  for (unsigned i = 0; i < group.size(); ++i) share += mine[i]; // @T
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> all(*count);
  all.fetch_add(share, cuda::memory_order_relaxed); // @A
}
