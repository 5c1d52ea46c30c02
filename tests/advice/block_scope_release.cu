// A flag for another block with the scope of the own one.
// launch: --arch sm_80 --grid 2 --block 32 --arg rand:s32[1] --arg zeros:s32[1] --arg zeros:s32[1] --arg out:4
// help: thread_scope_device
#include <cuda/atomic>

#ifdef SOUND
constexpr auto kScope = cuda::thread_scope_device;
#else
constexpr auto kScope = cuda::thread_scope_block;
#endif
__global__ void hand_over(const int* x, int* data, int* flag, int* y) {
  cuda::atomic_ref<int, kScope> ready(*flag);
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    *data = *x;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *y = *data;
  }
}
