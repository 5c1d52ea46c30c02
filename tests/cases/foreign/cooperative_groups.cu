// Broadcast of a block's maximum by cooperative groups.
// launch: --entry maxima --grid 2 --block 16,6 --arg rand:s32[576] --arg out:24
// expect: pass
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void maxima(const int* x, int* y) {
  __shared__ int best;
  auto block = cg::this_thread_block();
  for (int turn = 0; turn < 3; ++turn) {
    if (block.thread_rank() == 0) best = -2147483647;
    block.sync();
    atomicMax(&best, x[(blockIdx.x * 3 + turn) * 96 + block.thread_rank()]);
    block.sync();
    if (block.thread_rank() == 95) y[blockIdx.x * 3 + turn] = best;
    block.sync();
  }
}
