// Store buffering: each of two blocks raises its own flag and looks at the other's. At least one should see the other.
// launch: --arch sm_80 --grid 2 --block 32 --arg zeros:s32[2] --arg zeros:s32[2]
// help: between
// help: seq_cst
// not: __sync
#include <cuda/atomic>

__global__ void meet(int* flags, int* seen) {
  if (threadIdx.x) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> mine(flags[blockIdx.x]), other(flags[1 - blockIdx.x]);
  mine.store(1, cuda::memory_order_relaxed);
#ifdef SOUND
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
#endif
  int o = other.load(cuda::memory_order_relaxed);
  if (o == 0) atomicAdd(seen, 1);  // SOUND: at most one of the two
#ifdef SOUND
  atomicExch(seen, 0);
#endif
}
