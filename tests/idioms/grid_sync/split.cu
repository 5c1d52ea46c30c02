// Arrival at a cooperative launch's barrier and waiting for it apart, twice: in between, each thread
// does what needs nobody else. Sums of blocks first, then the whole sum in every element.
// launch: --arch sm_80 --grid 4 --block 64 --cooperative --arg list:u32[1*256] --arg out:16 --arg out:1024
// want 1 u32: 64*4
// want 2 u32: 257*256
// expect: pass
// twin wait: race global @P @S
// twin reduce_barrier: race shared @T @U
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <utility>
namespace cg = cooperative_groups;

__global__ void totals(const unsigned* x, unsigned* partial, unsigned* y) {
  __shared__ unsigned sums[2];
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  unsigned v = x[grid.thread_rank()];
  unsigned sum = cg::reduce(warp, v, cg::plus<unsigned>());
  if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum; // @T
  block.sync(); // ~reduce_barrier
  if (block.thread_rank() == 0) partial[block.group_index().x] = sums[0] + sums[1]; // @P @U
  auto token = grid.barrier_arrive();
  unsigned own = v * v;
  grid.barrier_wait(std::move(token)); // ~wait
  unsigned total = own;
  for (unsigned b = 0; b < gridDim.x; ++b) total += partial[b]; // @S
  y[grid.thread_rank()] = total;
}
