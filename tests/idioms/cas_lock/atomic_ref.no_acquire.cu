// atomic_ref.cu without `acquire`; written by tests/idioms/derive.py.
// The largest element and how often it was seen, under a lock by compare_exchange_weak.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:s32[4,9,2,9,9,1] --arg zeros:s32[2]
// launch: --arg zeros:u32[1]
// expect: race global @A @A
#include <cuda/atomic>

class Guard {
public:
  __device__ explicit Guard(unsigned& word) : word_(word) {
    unsigned expected = 0;
    while (!word_.compare_exchange_weak(expected, 1, cuda::memory_order_relaxed, // @L
                                        cuda::memory_order_relaxed))
      expected = 0;
  }
  __device__ ~Guard() { word_.store(0, cuda::memory_order_release); } // @U

private:
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> word_;
};

__global__ void largest(const int* x, int* best, unsigned* lock) {
  if (threadIdx.x % 32 != 0) return;
  int v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  Guard guard(*lock);
  best[1] = v > best[0] ? 1 : best[1] + (v == best[0]), best[0] = max(v, best[0]); // @A
}
