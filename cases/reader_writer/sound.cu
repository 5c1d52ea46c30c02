// A pair of numbers under a lock for one writer or many readers: block 0 writes once, the others read.
// A reader counts itself only if there is still no writer.
// expect: pass
#include <cuda/atomic>

using Lock = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__device__ unsigned word = 0; // the number of readers, or 1024 for a writer

__device__ void enter(Lock lock) {
  unsigned seen = lock.load(cuda::memory_order_relaxed);
  while (seen >= 1024 || !lock.compare_exchange_weak(seen, seen + 1, cuda::memory_order_acquire))
    seen = lock.load(cuda::memory_order_relaxed);
}

__global__ void read_or_write(unsigned* pair, unsigned* differences) {
  if (threadIdx.x != 0) return;
  Lock lock(word);
  if (blockIdx.x == 0) {
    unsigned nobody = 0;
    while (!lock.compare_exchange_weak(nobody, 1024, cuda::memory_order_acquire)) nobody = 0;
    pair[0] = 7, pair[1] = 7;
    lock.fetch_sub(1024, cuda::memory_order_release);
  } else {
    enter(lock);
    differences[blockIdx.x - 1] = pair[0] - pair[1];
    lock.fetch_sub(1, cuda::memory_order_release);
  }
}
