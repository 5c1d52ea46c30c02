// A lock whose unlock is a relaxed store: nothing that the holder wrote is released with it.
// launch: --arch sm_80 --grid 1 --block 32 --arg zeros:s32[1] --arg zeros:u32[1]
// help: release
// not: __sync
#include <cuda/atomic>

__global__ void count(int* total, unsigned* lock) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> word(*lock);
  bool done = false;
  while (!done) {
    unsigned expected = 0;
    if (word.compare_exchange_strong(expected, 1u, cuda::memory_order_acquire)) {
      *total += int(threadIdx.x);
#ifdef SOUND
      word.store(0, cuda::memory_order_release);
#else
      word.store(0, cuda::memory_order_relaxed);
#endif
      done = true;
    }
  }
}
