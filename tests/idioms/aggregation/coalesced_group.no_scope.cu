// coalesced_group.cu without `scope`; written by tests/idioms/derive.py.
// Counts elements by their sign: of the lanes that are together in a branch, one adds for all.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:s32[5*100,-5*92] --arg zeros:u32[2]
// expect: race global @A @A
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ void count(unsigned* counter) {
  cg::coalesced_group together = cg::coalesced_threads();
  if (together.thread_rank() == 0) atomicAdd_block(counter, together.size()); // @A
}

__global__ void signs(const int* x, unsigned* counts) {
  if (x[blockIdx.x * blockDim.x + threadIdx.x] > 0)
    count(&counts[0]);
  else
    count(&counts[1]);
}
