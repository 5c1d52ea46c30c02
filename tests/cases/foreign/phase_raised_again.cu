// A phase that is released and then raised once more by a relaxed store of the same thread: that
// goes on with the release.
// launch: --entry phases --grid 2 --block 64 --arg inlist:u32[0*64] --arg inlist:u32[0*2] --arg out:256
// want 2 u32: 5*64
// expect: pass
#include <cuda/atomic>

using Phase = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

extern "C" __global__ void phases(unsigned* data, unsigned* phase, unsigned* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 5;
    __syncthreads();
    if (threadIdx.x == 0) {
      Phase(phase[0]).store(1, cuda::memory_order_release);
      Phase(phase[0]).store(2, cuda::memory_order_relaxed);
    }
  } else {
    if (threadIdx.x == 0)
      while (Phase(phase[0]).load(cuda::memory_order_acquire) != 2) {
      }
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
  }
}
