// The same with a plain store of both words, which is no message to those who poll.
// launch: --entry scan_tiles --grid 3 --block 32 --arg inlist:u32[0*6] --arg out:12
// expect: race global @A @B
namespace {
enum Status : unsigned { empty, inclusive };

__device__ void publish(uint2* tile, unsigned status, unsigned epoch) {
  *tile = make_uint2(status, epoch); // @A
}
__device__ unsigned status_of(const uint2* tile) {
  unsigned status;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(status) : "l"(&tile->x) : "memory"); // @B
  return status;
}
} // namespace

extern "C" __global__ void scan_tiles(uint2* tiles, unsigned* sums) {
  if (threadIdx.x != 0) return;
  unsigned sum = blockIdx.x + 1;
  if (blockIdx.x > 0) {
    while (status_of(tiles + blockIdx.x - 1) == empty) {
    }
    __threadfence();
    sum += sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = sum;
  __threadfence();
  publish(tiles + blockIdx.x, inclusive, 1);
}
