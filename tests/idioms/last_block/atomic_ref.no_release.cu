// atomic_ref.cu without `release`; written by tests/idioms/derive.py.
// Sum over a grid in one launch: the counter is a cuda::atomic_ref whose increment releases this
// block's partial sum and acquires those of the others.
// launch: --arch sm_80 --grid 4 --block 96 --arg list:u32[3*384] --arg out:16 --arg zeros:u32[1]
// launch: --arg out:4
// expect: race global @A @B
#include <cuda/atomic>

__global__ void grid_sum(const unsigned* x, unsigned* partial, unsigned* arrived, unsigned* total) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> local(sum);
  local.fetch_add(x[blockIdx.x * blockDim.x + threadIdx.x], cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x > 0) return;
  partial[blockIdx.x] = sum; // @A
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(*arrived);
  auto order = cuda::memory_order_acquire;
  if (counter.fetch_add(1, order) < gridDim.x - 1) return; // @C
  unsigned all = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) all += partial[b]; // @B
  *total = all;
  *arrived = 0; // @D
}
