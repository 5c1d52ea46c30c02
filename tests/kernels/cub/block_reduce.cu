// Sums of a tile by the three algorithms of cub::BlockReduce, a maximum, and a partial tile.
// expect: pass proved
#include <cub/cub.cuh>
#include <cuda/functional>

template <cub::BlockReduceAlgorithm algorithm, class T>
__device__ T tile_sum(T (&items)[4]) {
  using Reduce = cub::BlockReduce<T, 192, algorithm>;
  __shared__ typename Reduce::TempStorage storage;
  T sum = Reduce(storage).Sum(items);
  __syncthreads();
  return sum;
}

extern "C" __global__ void block_reduce(const int* x, const float* f, int* sums, float* float_sums, int n) {
  const int first = blockIdx.x * 768 + threadIdx.x * 4;
  int items[4];
  float floats[4];
  for (int i = 0; i < 4; ++i) {
    items[i] = x[first + i];
    floats[i] = f[first + i];
  }
  const int a = tile_sum<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(items);
  const int b = tile_sum<cub::BLOCK_REDUCE_RAKING>(items);
  const int c = tile_sum<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(items);
  const float d = tile_sum<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(floats);
  using Reduce = cub::BlockReduce<int, 192>;
  __shared__ typename Reduce::TempStorage storage;
  const int largest = Reduce(storage).Reduce(items, cuda::maximum<>());
  __syncthreads();
  const int part = Reduce(storage).Sum(items[0], n);
  if (threadIdx.x == 0) {
    int* out = sums + blockIdx.x * 5;
    out[0] = a, out[1] = b, out[2] = c, out[3] = largest, out[4] = part;
    float_sums[blockIdx.x] = d;
  }
}
