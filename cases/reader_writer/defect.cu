// A pair of numbers under a lock for one writer or many readers: block 0 writes once, the others read.
// Defect: a reader looks whether there is a writer, and counts itself in a second step.
// expect: race global @A @B
#include <cuda/atomic>

using Lock = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

__device__ unsigned word = 0; // the number of readers, or 1024 for a writer

__device__ void enter(Lock lock) {
  while (lock.load(cuda::memory_order_acquire) >= 1024) {
  }
  lock.fetch_add(1, cuda::memory_order_acquire);
}

__global__ void read_or_write(unsigned* pair, unsigned* differences) {
  if (threadIdx.x != 0) return;
  Lock lock(word);
  if (blockIdx.x == 0) {
    unsigned nobody = 0;
    while (!lock.compare_exchange_weak(nobody, 1024, cuda::memory_order_acquire)) nobody = 0;
    pair[0] = 7, pair[1] = 7; // @A
    lock.fetch_sub(1024, cuda::memory_order_release);
  } else {
    enter(lock);
    differences[blockIdx.x - 1] = pair[0] - pair[1]; // @B
    lock.fetch_sub(1, cuda::memory_order_release);
  }
}
