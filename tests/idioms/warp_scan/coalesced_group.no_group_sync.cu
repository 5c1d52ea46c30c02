// coalesced_group.cu without `group_sync`; written by tests/idioms/derive.py.
// Sums up to each element among the lanes of a warp that stayed, by the group's own scan; after it
// the last of the group tells the whole through shared memory.
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[1*100] --arg out:800 --arg u32:100
// expect: race shared @S @R
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void warp_sums(const unsigned* x, unsigned* y, unsigned n) {
  __shared__ unsigned whole[2];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto group = cg::binary_partition(warp, i < n);
  if (i >= n) return;
  unsigned sum = cg::inclusive_scan(group, x[i], cg::plus<unsigned>());
  if (group.thread_rank() == group.size() - 1) whole[threadIdx.x / 32] = sum; // @S
  y[i] = sum;
  y[n + i] = whole[threadIdx.x / 32]; // @R
}
