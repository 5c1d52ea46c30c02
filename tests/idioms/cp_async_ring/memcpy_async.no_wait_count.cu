// memcpy_async.cu without `wait_count`; written by tests/idioms/derive.py.
// Sums columns of tiles that cooperative_groups::memcpy_async brings through a ring of two stages;
// cg::wait_prior waits for all but the newest, and is a barrier of the group as well.
// launch: --arch sm_80 --grid 2 --block 64 --arg out:512
// launch: --arg list:u32[1*64,2*64,3*64,4*64,5*64,6*64,1*64,2*64,3*64,4*64,5*64,6*64]
// expect: race shared
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

__global__ void column_sums(unsigned* y, const unsigned* x) {
  __shared__ alignas(16) unsigned ring[2][64];
  auto block = cg::this_thread_block();
  const unsigned* from = x + blockIdx.x * 384;
  cg::memcpy_async(block, ring[0], from, 256);
  unsigned sum = 0;
#pragma unroll 1
  for (int k = 0; k < 6; ++k) {
    if (k < 5) {
      cg::memcpy_async(block, ring[(k + 1) % 2], from + (k + 1) * 64, 256);
      cg::wait_prior<2>(block);
    } else {
      cg::wait(block);
    }
    sum += ring[k % 2][63 - threadIdx.x];
    block.sync();
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}
