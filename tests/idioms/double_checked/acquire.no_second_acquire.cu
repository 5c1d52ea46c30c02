// acquire.cu without `second_acquire`; written by tests/idioms/derive.py.
// A table that whoever needs it first fills: ld.acquire looks at the state, st.release says that
// the table is there.
// launch: --arch sm_80 --grid 4 --block 32 --arg out:32 --arg zeros:u32[1] --arg out:16
// expect: race global @A @B
__device__ unsigned acquire(const unsigned* p) {
  unsigned v;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); // @P
  return v;
}

__device__ unsigned relaxed(const unsigned* p) {
  unsigned v;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

__device__ void release(unsigned* p, unsigned v) {
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); // @R
}

__global__ void powers(unsigned* table, unsigned* state, unsigned* y) {
  if (threadIdx.x > 0) return;
  if (acquire(state) != 2) {
    if (atomicCAS(state, 0, 1) == 0) { // @C
      for (int i = 0; i < 8; ++i) table[i] = 1u << i; // @A
      release(state, 2);
    } else {
      while (relaxed(state) != 2) {
      }
    }
  }
  y[blockIdx.x] = table[blockIdx.x]; // @B
}
