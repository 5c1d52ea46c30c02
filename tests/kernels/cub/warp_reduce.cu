// cub::WarpReduce: sums of whole and of part warps, of logical warps of eight, of segments, and in shared memory.
// expect: pass
#include <cub/cub.cuh>
#include <cuda/functional>

extern "C" __global__ void warp_reduce(const int* x, const int* heads, int* sums, int* eights, int* segments, int* odd, int valid) {
  using Reduce = cub::WarpReduce<int>;
  using Eight = cub::WarpReduce<int, 8>;
  using Twelve = cub::WarpReduce<int, 12>; // no power of two: through shared memory, one in a warp
  __shared__ typename Reduce::TempStorage storage[4];
  __shared__ typename Eight::TempStorage eight[16];
  __shared__ typename Twelve::TempStorage twelve[4];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const int value = x[t];
  const int sum = Reduce(storage[warp]).Sum(value);
  __syncwarp();
  const int part = Reduce(storage[warp]).Sum(value, valid);
  if (lane == 0) sums[warp * 2] = sum, sums[warp * 2 + 1] = part;
  const int few = Eight(eight[t / 8]).Reduce(value, cuda::minimum<>());
  if (t % 8 == 0) eights[t / 8] = few;
  __syncwarp();
  const int segment = Reduce(storage[warp]).HeadSegmentedSum(value, heads[t]);
  if (heads[t] || lane == 0) segments[t] = segment;
  if (lane < 12) {
    const int twelves = Twelve(twelve[warp]).Sum(value);
    if (lane == 0) odd[warp] = twelves;
  }
}
