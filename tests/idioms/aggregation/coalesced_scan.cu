// Lanes that kept their element write it densely: the lanes together agree on their places by an
// exclusive scan, one of them takes the room for all, each warp has its own part of the output.
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[5*10,0*22,7*52,0*44] --arg out:512
// launch: --arg zeros:u32[4]
// want 2 u32: 10 32 20 0
// expect: pass
// twin scope: pass
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void compact(const unsigned* x, unsigned* y, unsigned* counts) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, warp = i / 32, v = x[i];
  y[i] = 0;
  __syncwarp();
  if (v == 0) return;
  cg::coalesced_group kept = cg::coalesced_threads();
  unsigned place = cg::exclusive_scan(kept, 1u, cg::plus<unsigned>());
  unsigned base = 0;
  if (kept.thread_rank() == 0) base = atomicAdd(&counts[warp], kept.size()); // ~scope{atomicAdd => atomicAdd_block}
  base = kept.shfl(base, 0);
  y[warp * 32 + base + place] = v;
}
