// The same with cuda::atomic_ref: the polling load is relaxed.
// launch: --arch sm_80 --grid 1 --block 64 --arg zeros:s32[1] --arg zeros:s32[1] --arg zeros:s32[1]
// help: acquire
// not: __sync
#include <cuda/atomic>

__global__ void hand_over(int* data, int* flag, int* y) {
  cuda::atomic_ref<int, cuda::thread_scope_block> ready(*flag);
  if (threadIdx.x == 0) {
    *data = 42;
    ready.store(1, cuda::memory_order_release);
  } else if (threadIdx.x == 32) {
#ifdef SOUND
    while (ready.load(cuda::memory_order_acquire) == 0) {
#else
    while (ready.load(cuda::memory_order_relaxed) == 0) {
#endif
    }
    *y = *data;
  }
}
