// cub::BlockExchange: between blocked, striped and warp-striped arrangements, and scatters by rank.
// expect: pass proved
#include <cub/cub.cuh>

extern "C" __global__ void block_exchange(const int* x, const int* ranks, int* y) {
  using Exchange = cub::BlockExchange<int, 96, 7>;
  __shared__ typename Exchange::TempStorage storage;
  int items[7], rank[7];
  cub::LoadDirectStriped<96>(threadIdx.x, x, items);
  Exchange(storage).StripedToBlocked(items, items);
  cub::StoreDirectBlocked(threadIdx.x, y, items);
  __syncthreads();
  Exchange(storage).BlockedToWarpStriped(items, items);
  cub::StoreDirectWarpStriped(threadIdx.x, y + 672, items);
  __syncthreads();
  Exchange(storage).WarpStripedToBlocked(items, items);
  cub::LoadDirectBlocked(threadIdx.x, ranks, rank);
  __syncthreads();
  Exchange(storage).ScatterToBlocked(items, items, rank);
  cub::StoreDirectBlocked(threadIdx.x, y + 2 * 672, items);
  __syncthreads();
  Exchange(storage).BlockedToStriped(items, items);
  cub::StoreDirectStriped<96>(threadIdx.x, y + 3 * 672, items);
}
