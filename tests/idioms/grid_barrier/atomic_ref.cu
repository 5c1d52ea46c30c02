// Three steps of a ring's averages with a barrier over the grid that is used again and again, by
// cuda::atomic_ref: the last to arrive starts a new generation with a release store.
// launch: --arch sm_80 --grid 4 --block 64 --arg rand:f32[256] --arg out:1024
// launch: --arg zeros:u32[1] --arg zeros:u32[1]
// want 2 u32: 0
// want 3 u32: 3
// expect: pass
// twin arrive_release: race global @A @B
// twin arrive_acquire: race global @A @B
// twin release: race global @A @B
// twin release: hang global
// twin acquire: race global @A @B
// twin gather: race global @A @B
// twin scatter: race global @A @B
#include <cuda/atomic>

using Cell = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__device__ void grid_barrier(Cell count, Cell generation) {
  __syncthreads(); // ~gather
  if (threadIdx.x == 0) {
    unsigned current = generation.load(cuda::memory_order_relaxed);
    auto order = cuda::memory_order_acq_rel; // ~arrive_release{acq_rel => acquire} ~arrive_acquire{acq_rel => release}
    if (count.fetch_add(1, order) == gridDim.x - 1) {
      count.store(0, cuda::memory_order_relaxed);
      generation.store(current + 1, cuda::memory_order_release); // ~release{release => relaxed}
    } else {
      while (generation.load(cuda::memory_order_acquire) == current) { // ~acquire{acquire => relaxed}
      }
    }
  }
  __syncthreads(); // ~scatter
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
