// A table that whoever needs it first fills, flag and table volatile; the first to swap the flag
// from 0 to 1 fills it, and 2 says that it is there.
// launch: --arch sm_80 --grid 4 --block 32 --arg out:32 --arg zeros:u32[1] --arg out:16
// want 1 u32: 2
// want 2 u32: 1 2 4 8
// expect: pass
// twin publish: nondeterministic global @A @B
// twin publish_scope: nondeterministic global @A @B
// twin acquire: nondeterministic global @A @B
// twin acquire_scope: nondeterministic global @A @B
__global__ void powers(volatile unsigned* table, unsigned* state, unsigned* y) {
  if (threadIdx.x > 0) return;
  volatile unsigned* look = state;
  if (*look != 2) {
    if (atomicCAS(state, 0, 1) == 0) {
      for (int i = 0; i < 8; ++i) table[i] = 1u << i; // @A
      __threadfence(); // ~publish ~publish_scope{__threadfence() => __threadfence_block()}
      *look = 2;
    } else {
      while (*look != 2) {
      }
    }
  }
  __threadfence(); // ~acquire ~acquire_scope{__threadfence() => __threadfence_block()}
  y[blockIdx.x] = table[blockIdx.x]; // @B
}
