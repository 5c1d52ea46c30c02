// cub::BlockDiscontinuity (heads and tails of runs), BlockAdjacentDifference and BlockShuffle on one tile.
// expect: pass
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>

struct Less {
  __device__ int operator()(int a, int b) const { return a - b; }
};

extern "C" __global__ void block_discontinuity(const int* x, int* heads, int* tails, int* differences, int* shifted) {
  using Discontinuity = cub::BlockDiscontinuity<int, 160>;
  using Difference = cub::BlockAdjacentDifference<int, 160>;
  using Shuffle = cub::BlockShuffle<int, 160>;
  __shared__ typename Discontinuity::TempStorage discontinuity;
  __shared__ typename Difference::TempStorage difference;
  __shared__ typename Shuffle::TempStorage shuffle;
  int items[3], head[3], tail[3], step[3], next[3];
  cub::LoadDirectBlocked(threadIdx.x, x, items);
  Discontinuity(discontinuity).FlagHeadsAndTails(head, tail, items, cuda::std::not_equal_to<>());
  Difference(difference).SubtractLeft(items, step, Less());
  Shuffle(shuffle).Up(items, next);
  if (threadIdx.x == 0) next[0] = -1;
  cub::StoreDirectBlocked(threadIdx.x, heads, head);
  cub::StoreDirectBlocked(threadIdx.x, tails, tail);
  cub::StoreDirectBlocked(threadIdx.x, differences, step);
  cub::StoreDirectBlocked(threadIdx.x, shifted, next);
}
