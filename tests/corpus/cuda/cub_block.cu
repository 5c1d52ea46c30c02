// CUB block primitives on one tile. -DELEMENT=type -DALGO=0..7
#include <cub/cub.cuh>
#include <cuda/functional>
#include <cuda/std/functional>

using T = ELEMENT;
constexpr int kThreads = 128, kItems = 4;

extern "C" __global__ void kernel(const T* in, T* out, int n) {
  T items[kItems];
#if ALGO == 0
  using Reduce = cub::BlockReduce<T, kThreads, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
#elif ALGO == 1
  using Reduce = cub::BlockReduce<T, kThreads, cub::BLOCK_REDUCE_RAKING>;
#elif ALGO == 2
  using Reduce = cub::BlockReduce<T, kThreads, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>;
#endif
  using Load = cub::BlockLoad<T, kThreads, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<T, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } s;
  int base = blockIdx.x * kThreads * kItems;
  Load(s.load).Load(in + base, items, n - base, T(0));
  __syncthreads();
#if ALGO <= 2
  __shared__ typename Reduce::TempStorage r;
  T sum = Reduce(r).Sum(items);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
#elif ALGO <= 4
  using Scan = cub::BlockScan<T, kThreads, ALGO == 3 ? cub::BLOCK_SCAN_WARP_SCANS : cub::BLOCK_SCAN_RAKING>;
  __shared__ typename Scan::TempStorage r;
  Scan(r).ExclusiveSum(items, items);
  Store(s.store).Store(out + base, items, n - base);
#elif ALGO == 5
  using Sort = cub::BlockRadixSort<T, kThreads, kItems>;
  __shared__ typename Sort::TempStorage r;
  Sort(r).Sort(items);
  Store(s.store).Store(out + base, items, n - base);
#elif ALGO == 6
  using Exchange = cub::BlockExchange<T, kThreads, kItems>;
  __shared__ typename Exchange::TempStorage r;
  Exchange(r).BlockedToStriped(items, items);
  Store(s.store).Store(out + base, items, n - base);
#elif ALGO == 7
  using Warp = cub::WarpReduce<T>;
  __shared__ typename Warp::TempStorage r[kThreads / 32];
  T sum = Warp(r[threadIdx.x / 32]).Reduce(items[0], cuda::maximum<>());
  using Discontinuity = cub::BlockDiscontinuity<T, kThreads>;
  __shared__ typename Discontinuity::TempStorage d;
  int heads[kItems];
  Discontinuity(d).FlagHeads(heads, items, cuda::std::not_equal_to<>());
  out[base + threadIdx.x] = sum + T(heads[0] + heads[3]);
#endif
}
