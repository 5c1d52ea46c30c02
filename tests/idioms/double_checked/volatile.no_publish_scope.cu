// volatile.cu without `publish_scope`; written by tests/idioms/derive.py.
// A table that whoever needs it first fills, flag and table volatile; the first to swap the flag
// from 0 to 1 fills it, and 2 says that it is there.
// launch: --arch sm_80 --grid 4 --block 32 --arg out:32 --arg zeros:u32[1] --arg out:16
// expect: nondeterministic global @A @B
__global__ void powers(volatile unsigned* table, unsigned* state, unsigned* y) {
  if (threadIdx.x > 0) return;
  volatile unsigned* look = state;
  if (*look != 2) {
    if (atomicCAS(state, 0, 1) == 0) {
      for (int i = 0; i < 8; ++i) table[i] = 1u << i; // @A
      __threadfence_block();
      *look = 2;
    } else {
      while (*look != 2) {
      }
    }
  }
  __threadfence();
  y[blockIdx.x] = table[blockIdx.x]; // @B
}
