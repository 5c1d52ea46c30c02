// Two sums by cub::BlockReduce with one temporary storage.
// launch: --entry two_sums --grid 2 --block 96 --arg rand:s32[384] --arg out:16
// expect: pass
#include <cub/block/block_reduce.cuh>
extern "C" __global__ void two_sums(const int* x, int* y) {
  using Reduce = cub::BlockReduce<int, 96>;
  __shared__ typename Reduce::TempStorage storage;
  int a = Reduce(storage).Sum(x[(blockIdx.x * 2 + 0) * 96 + threadIdx.x]);
  __syncthreads();
  int b = Reduce(storage).Sum(x[(blockIdx.x * 2 + 1) * 96 + threadIdx.x]);
  if (threadIdx.x == 0) y[blockIdx.x * 2] = a, y[blockIdx.x * 2 + 1] = b;
}
