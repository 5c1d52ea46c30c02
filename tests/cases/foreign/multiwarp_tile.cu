// Reversed halves of a block: two groups of 64 threads each with a barrier of their own, which
// cooperative groups keep in the shared memory that is the system's.
// launch: --entry reversed --arch sm_80 --grid 2 --block 128 --arg rand:u32[256] --arg out:1024
// expect: pass
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void reversed(const unsigned* x, unsigned* y) {
  __shared__ cg::block_tile_memory<128> memory;
  __shared__ unsigned s[128];
  auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  unsigned* half = s + 64 * tile.meta_group_rank();
  unsigned t = tile.thread_rank(), from = blockIdx.x * 128 + 64 * tile.meta_group_rank();
  half[t] = x[from + t];
  tile.sync();
  y[from + t] = half[63 - t];
}
