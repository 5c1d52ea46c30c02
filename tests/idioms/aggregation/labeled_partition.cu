// Sums by key: the lanes of a warp that have one key add theirs up in shared memory and by the
// group's reduction, and the first of them adds both to the totals.
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[0*20,1*30,2*14,1*20,3*44] --arg zeros:u32[4]
// want 1 u32: 40 100 28 88
// expect: pass
// twin group_sync: race shared @S @T
// twin scope: race global @A @A
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void by_key(const unsigned* key, unsigned* totals) {
  __shared__ unsigned cells[64];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  unsigned k = key[blockIdx.x * blockDim.x + threadIdx.x];
  cg::coalesced_group group = cg::labeled_partition(warp, k);
  cells[threadIdx.x] = 1; // @S
  group.sync(); // ~group_sync
  unsigned first = group.shfl(threadIdx.x, 0), last = group.shfl(threadIdx.x, group.size() - 1);
  unsigned other = cells[first + last - threadIdx.x]; // @T
  unsigned sum = cg::reduce(group, 1 + other, cg::plus<unsigned>());
  if (group.thread_rank() == 0) atomicAdd(&totals[k], sum); // @A ~scope{atomicAdd => atomicAdd_block}
}
