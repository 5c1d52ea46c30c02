// Prefix sums of a tile by the three algorithms of cub::BlockScan; the third with a prefix that a callback gives.
// expect: pass proved
#include <cub/cub.cuh>

struct RunningPrefix {
  int total;
  __device__ int operator()(int aggregate) {
    const int old = total;
    total += aggregate;
    return old;
  }
};

template <cub::BlockScanAlgorithm algorithm> __device__ void tile_scan(const int* x, int* y) {
  using Scan = cub::BlockScan<int, 128, algorithm>;
  __shared__ typename Scan::TempStorage storage;
  int items[4];
  cub::LoadDirectBlocked(threadIdx.x, x, items);
  int aggregate;
  Scan(storage).ExclusiveSum(items, items, aggregate);
  __syncthreads();
  cub::StoreDirectBlocked(threadIdx.x, y, items);
  if (threadIdx.x == 0) y[512] = aggregate;
}

extern "C" __global__ void block_scan(const int* x, int* y, int* running, int tiles) {
  x += blockIdx.x * 512 * tiles;
  y += blockIdx.x * 513 * 3;
  tile_scan<cub::BLOCK_SCAN_RAKING>(x, y);
  tile_scan<cub::BLOCK_SCAN_RAKING_MEMOIZE>(x, y + 513);
  tile_scan<cub::BLOCK_SCAN_WARP_SCANS>(x, y + 2 * 513);
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  RunningPrefix prefix{0};
  for (int tile = 0; tile < tiles; ++tile) {
    int items[4];
    cub::LoadDirectBlocked(threadIdx.x, x + tile * 512, items);
    Scan(storage).InclusiveSum(items, items, prefix);
    cub::StoreDirectBlocked(threadIdx.x, running + (blockIdx.x * tiles + tile) * 512, items);
    __syncthreads();
  }
}
