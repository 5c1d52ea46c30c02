// A reader-writer lock whose readers announce themselves first and take that back when a writer is there.
// launch: --entry visit --grid 4 --block 32 --arg zeros:u32[1] --arg zeros:u32[2] --arg zeros:u32[1]
// want 2 u32: 0
// expect: pass
#include <cuda/atomic>

constexpr unsigned kWriter = 0x80000000u;

extern "C" __global__ void visit(unsigned* word, unsigned* pair, unsigned* torn) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> lock(*word);
#ifdef RELAXED_RELEASE
  constexpr auto release = cuda::memory_order_relaxed;
#else
  constexpr auto release = cuda::memory_order_release;
#endif
  if (blockIdx.x < 2) {
    unsigned none = 0;
    while (!lock.compare_exchange_weak(none, kWriter, cuda::memory_order_acquire, cuda::memory_order_relaxed)) none = 0;
    ++pair[0], ++pair[1];
    lock.fetch_and(~kWriter, release);
  } else {
    while (lock.fetch_add(1, cuda::memory_order_acquire) & kWriter) lock.fetch_sub(1, cuda::memory_order_relaxed);
    if (pair[0] != pair[1]) atomicAdd(torn, 1u);
    lock.fetch_sub(1, cuda::memory_order_release);
  }
}
