// atomic_ref.cu without `scope`; written by tests/idioms/derive.py.
// A table that whoever needs it first fills, as cuda::atomic_ref has it; losers of the exchange
// wait with the same acquire load that others look with.
// launch: --arch sm_80 --grid 4 --block 32 --arg out:32 --arg zeros:u32[1] --arg out:16
// expect: race global @A @B
// expect: race-without-consequence global @L @X
// expect: race-without-consequence global @L @S
// expect: race global @X @X
// expect: race-without-consequence global @X @S
#include <cuda/atomic>

__global__ void powers(unsigned* table, unsigned* word, unsigned* y) {
  if (threadIdx.x > 0) return;
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> state(*word);
  while (state.load(cuda::memory_order_acquire) != 2) { // @L
    unsigned none = 0;
    if (!state.compare_exchange_strong(none, 1, cuda::memory_order_relaxed)) continue; // @X
    for (int i = 0; i < 8; ++i) table[i] = 1u << i; // @A
    state.store(2, cuda::memory_order_release); // @S
  }
  y[blockIdx.x] = table[blockIdx.x]; // @B
}
