// A bounded queue whose cells count their turns.
// launch: --entry queue --grid 2 --block 32 --arg list:u32[0,1,2,3] --arg out:16 --arg zeros:u32[2] --arg zeros:u32[1]
// expect: pass
// Vyukov's bounded queue of four cells; block 0 puts 8 items, block 1 takes 8 and adds them
#include <cuda/atomic>
using A = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
extern "C" __global__ void queue(unsigned* seq, unsigned* data, unsigned* ends, unsigned* sum) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    for (unsigned k = 0; k < 8; ++k) {
      unsigned pos = A(ends[0]).fetch_add(1, cuda::memory_order_relaxed);
      while (A(seq[pos % 4]).load(cuda::memory_order_acquire) != pos) {}
      data[pos % 4] = k + 1;
      A(seq[pos % 4]).store(pos + 1, cuda::memory_order_release);
    }
  } else {
    unsigned s = 0;
    for (unsigned k = 0; k < 8; ++k) {
      unsigned pos = A(ends[1]).fetch_add(1, cuda::memory_order_relaxed);
      while (A(seq[pos % 4]).load(cuda::memory_order_acquire) != pos + 1) {}
      s += data[pos % 4];
#ifdef NO_SLOT_RELEASE
      A(seq[pos % 4]).store(pos + 4, cuda::memory_order_relaxed);
#else
      A(seq[pos % 4]).store(pos + 4, cuda::memory_order_release);
#endif
    }
    *sum = s;
  }
}
