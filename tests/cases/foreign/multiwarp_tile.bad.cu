// multiwarp_tile.cu with a fault: the groups do not wait before they read.
// launch: --entry reversed --arch sm_80 --grid 2 --block 128 --arg rand:u32[256] --arg out:1024
// expect: race shared @A @B
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void reversed(const unsigned* x, unsigned* y) {
  __shared__ cg::block_tile_memory<128> memory;
  __shared__ unsigned s[128];
  auto tile = cg::tiled_partition<64>(cg::this_thread_block(memory));
  unsigned* half = s + 64 * tile.meta_group_rank();
  unsigned t = tile.thread_rank(), from = blockIdx.x * 128 + 64 * tile.meta_group_rank();
  half[t] = x[from + t]; // @A
  y[from + t] = half[63 - t]; // @B
}
