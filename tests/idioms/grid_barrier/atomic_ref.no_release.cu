// atomic_ref.cu without `release`; written by tests/idioms/derive.py.
// Three steps of a ring's averages with a barrier over the grid that is used again and again, by
// cuda::atomic_ref: the last to arrive starts a new generation with a release store.
// launch: --arch sm_80 --grid 4 --block 64 --arg rand:f32[256] --arg out:1024
// launch: --arg zeros:u32[1] --arg zeros:u32[1]
// expect: race global @A @B
// expect: hang global
#include <cuda/atomic>

using Cell = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__device__ void grid_barrier(Cell count, Cell generation) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned current = generation.load(cuda::memory_order_relaxed);
    auto order = cuda::memory_order_acq_rel;
    if (count.fetch_add(1, order) == gridDim.x - 1) {
      count.store(0, cuda::memory_order_relaxed);
      generation.store(current + 1, cuda::memory_order_relaxed);
    } else {
      while (generation.load(cuda::memory_order_acquire) == current) {
      }
    }
  }
  __syncthreads();
}

__global__ void diffuse(float* a, float* b, unsigned* count, unsigned* generation) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 1; step <= 3; ++step) {
    float v = 0.5f * (a[(i + 1) % n] + a[(i + n - 1) % n]); // @A
    b[i] = v; // @B
    grid_barrier(Cell(*count), Cell(*generation));
    float* t = a;
    a = b, b = t;
  }
}
