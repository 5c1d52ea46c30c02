// Two blocks write two places in opposite order, with fences that are no more than release and acquire: that both places
// keep what was stored first should not happen, but it does.
// launch: --arch sm_80 --entry cross --grid 2 --block 32 --arg inlist:s32[0*2] --launch --entry judge --grid 1 --block 1 --arg same:0 --arg out:4
// help: between
// help: seq_cst
// not: announce
#include <cuda/atomic>

extern "C" __global__ void cross(int* places) {
  if (threadIdx.x) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> mine(places[blockIdx.x]), other(places[1 - blockIdx.x]);
  mine.store(1, cuda::memory_order_relaxed);
#ifdef SOUND
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_device);
#else
  cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device);
#endif
  other.store(2, cuda::memory_order_relaxed);
}

extern "C" __global__ void judge(int* places, int* bad) {
  *bad = places[0] == 1 && places[1] == 1;
  places[0] = places[1] = 0;
}
