// cub::WarpMergeSort with logical warps of sixteen, and cub::WarpExchange.
// expect: pass
#include <cub/cub.cuh>

struct Greater {
  __device__ bool operator()(float a, float b) const { return a > b; }
};

extern "C" __global__ void warp_merge_sort(const float* x, float* sorted, float* striped) {
  using Sort = cub::WarpMergeSort<float, 4, 16>;
  using Exchange = cub::WarpExchange<float, 4, 16>;
  __shared__ typename Sort::TempStorage sort[8];
  __shared__ typename Exchange::TempStorage exchange[8];
  const int group = threadIdx.x / 16, lane = threadIdx.x % 16;
  float items[4];
  cub::LoadDirectBlocked(threadIdx.x, x, items);
  Sort(sort[group]).Sort(items, Greater());
  cub::StoreDirectBlocked(threadIdx.x, sorted, items);
  Exchange(exchange[group]).BlockedToStriped(items, items);
  for (int i = 0; i < 4; ++i) striped[(group * 16 + lane) * 4 + i] = items[i];
}
