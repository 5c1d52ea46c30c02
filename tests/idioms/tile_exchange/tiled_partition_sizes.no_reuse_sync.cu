// tiled_partition_sizes.cu without `reuse_sync`; written by tests/idioms/derive.py.
// Sums of tiles of 4, 8, 16 and 32 threads, each through shared memory and with the group's own
// barrier, then by the group's shuffles; and the sum over halves of a tile, partitioned again.
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[1*128] --arg out:2560
// expect: race shared @A @B
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <typename Tile>
__device__ unsigned tile_sum(const Tile& tile, unsigned* cells, unsigned v) {
  unsigned r = tile.thread_rank(), n = tile.num_threads();
  cells[r] = v; // @A
  tile.sync();
  unsigned sum = 0;
  for (unsigned i = 0; i < n / 2; ++i) sum += cells[(r + i) % n]; // @B
  for (unsigned d = n / 2; d > 0; d /= 2) v += tile.shfl_xor(v, d);
  return v / 2 + sum;
}

template <int N>
__device__ void by_tiles(const cg::thread_block& block, unsigned* cells, unsigned v, unsigned* y) {
  auto tile = cg::tiled_partition<N>(block);
  *y = tile_sum(tile, cells + threadIdx.x / N * N, v);
}

__global__ void sums(const unsigned* x, unsigned* y) {
  __shared__ unsigned cells[64];
  auto block = cg::this_thread_block();
  unsigned i = blockIdx.x * 64 + threadIdx.x, v = x[i];
  by_tiles<4>(block, cells, v, y + i);
  by_tiles<8>(block, cells, v + 1, y + 128 + i);
  by_tiles<16>(block, cells, v + 2, y + 256 + i);
  by_tiles<32>(block, cells, v + 3, y + 384 + i);
  auto half = cg::tiled_partition<16>(cg::tiled_partition<32>(block));
  y[512 + i] = tile_sum(half, cells + threadIdx.x / 16 * 16, v + 4);
}
