// A lock as a class over cuda::atomic_ref; the unlock is relaxed.
// launch: --entry k --grid 4 --block 33 --arg zeros:u32[1] --arg zeros:f64[2]
// expect: race global @A @A
#include <cuda/atomic>
template <class Word> class Lock {
public:
  __device__ explicit Lock(Word& word) : word_(word) {}
  __device__ void take() {
    while (word_.exchange(1, cuda::memory_order_acquire) != 0) {
    }
  }
  __device__ void give() { word_.store(0, cuda::memory_order_relaxed); }

private:
  cuda::atomic_ref<Word, cuda::thread_scope_device> word_;
};
extern "C" __global__ void k(unsigned* word, double* total) {
  if (threadIdx.x != 32) return;
  Lock<unsigned> lock(*word);
  lock.take();
  *total += 1.0; // @A
  lock.give();
}
