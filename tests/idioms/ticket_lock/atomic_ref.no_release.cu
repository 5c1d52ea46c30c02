// atomic_ref.cu without `release`; written by tests/idioms/derive.py.
// Running sum and count under a lock that serves in the order of tickets, over cuda::atomic_ref.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:u32[1,2,3,4,5,6] --arg zeros:u32[2]
// launch: --arg zeros:u32[2]
// expect: race global @A @A
#include <cuda/atomic>

using Word = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

struct TicketLock {
  Word next, serving;

  __device__ void lock() {
    unsigned mine = next.fetch_add(1, cuda::memory_order_relaxed); // @N
    while (serving.load(cuda::memory_order_acquire) != mine) { // @P
    }
  }
  __device__ void unlock() { serving.fetch_add(1, cuda::memory_order_relaxed); } // @R
};

__global__ void account(const unsigned* x, unsigned* totals, unsigned* words) {
  if (threadIdx.x % 32 != 0) return;
  unsigned v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  TicketLock lock{Word(words[0]), Word(words[1])};
  lock.lock();
  totals[0] += v, totals[1] += 1; // @A
  lock.unlock();
}
