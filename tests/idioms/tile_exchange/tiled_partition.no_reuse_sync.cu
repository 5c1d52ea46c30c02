// tiled_partition.cu without `reuse_sync`; written by tests/idioms/derive.py.
// Each tile of eight threads reverses its elements through shared memory, twice.
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[1,2,3,4,5,6,7,8,9*120] --arg out:512
// expect: race shared @A @B
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void reverse(const unsigned* x, unsigned* y) {
  __shared__ unsigned cells[64];
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  unsigned* mine = cells + threadIdx.x / 8 * 8;
  unsigned i = blockIdx.x * 64 + threadIdx.x, v = x[i], r = tile.thread_rank();
#pragma unroll 1
  for (int turn = 0; turn < 3; ++turn) {
    mine[r] = v; // @A
    tile.sync();
    v = mine[7 - r]; // @B
  }
  y[i] = v;
}
