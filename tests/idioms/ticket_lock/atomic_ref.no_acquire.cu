// atomic_ref.cu without `acquire`; written by tests/idioms/derive.py.
// Running sum and count under a lock that serves in the order of tickets, over cuda::atomic_ref.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:u32[1,2,3,4,5,6] --arg zeros:u32[2]
// launch: --arg zeros:u32[2]
// expect: race global @A @A
#include <cuda/atomic>

struct TicketLock {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> next, serving;

  __device__ void lock() {
    unsigned mine = next.fetch_add(1, cuda::memory_order_relaxed);
    while (serving.load(cuda::memory_order_relaxed) != mine) {
    }
  }
  __device__ void unlock() { serving.fetch_add(1, cuda::memory_order_release); }
};

__global__ void account(const unsigned* x, unsigned* totals, unsigned* words) {
  if (threadIdx.x % 32 != 0) return;
  unsigned v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  using Ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  TicketLock lock{Ref(words[0]), Ref(words[1])};
  lock.lock();
  totals[0] += v, totals[1] += 1; // @A
  lock.unlock();
}
