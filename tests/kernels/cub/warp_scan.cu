// cub::WarpScan: sums inclusive and exclusive, a maximum, a broadcast, and through shared memory.
// expect: pass
#include <cub/cub.cuh>
#include <cuda/functional>

extern "C" __global__ void warp_scan(const int* x, int* inclusive, int* exclusive, int* largest, int* twelve) {
  using Scan = cub::WarpScan<int>;
  using Twelve = cub::WarpScan<int, 12>;
  __shared__ typename Scan::TempStorage storage[4];
  __shared__ typename Twelve::TempStorage odd[4];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  int in, ex, most, total;
  Scan(storage[warp]).Scan(x[t], in, ex, cuda::std::plus<>());
  __syncwarp();
  Scan(storage[warp]).ExclusiveScan(x[t], most, -5, cuda::maximum<>(), total);
  inclusive[t] = in;
  exclusive[t] = lane == 0 ? 0 : ex;
  largest[t] = most + Scan(storage[warp]).Broadcast(total, 3);
  if (lane < 12) {
    int sum;
    Twelve(odd[warp]).InclusiveSum(x[t], sum);
    twelve[warp * 12 + lane] = sum;
  }
}
