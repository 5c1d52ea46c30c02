// Two writers of two places, in opposite orders (the test 2+2W): no place keeps each one's first value.
// launch: --arch sm_80 --grid 2 --block 1 --arg zeros:u32[128] --arg zeros:u32[4]
// launch: --arg zeros:u32[1] --arg zeros:u32[1]
// want 3 u32: 0
// expect: pass
// twin first: nondeterministic global @P @P
// twin second: nondeterministic global @P @P
typedef unsigned u32;
__device__ void put(u32* p, u32 v) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); // @P
}
__device__ u32 get(u32* p) {
  u32 v;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); // @G
  return v;
}
// The last block looks whether all saw what nobody may see, and leaves the rest as it was.
__device__ bool last(u32* done) {
  __threadfence();
  if (atomicAdd(done, 1) != gridDim.x - 1) return false;
  __threadfence();
  return true;
}
__device__ void clear(u32* x, u32* seen) {
  for (int i = 0; i < 4; ++i) x[i * 32] = 0, seen[i] = 0;
}

__global__ void two_writers(u32* x, u32* seen, u32* done, u32* bad) {
  u32* y = x + 32;
  if (blockIdx.x == 0) {
    put(x, 1);
    __threadfence(); // ~first
    put(y, 2);
  } else {
    put(y, 1);
    __threadfence(); // ~second
    put(x, 2);
  }
  if (last(done)) {
    if (get(x) == 1 && get(y) == 1) *bad = 1;
    clear(x, seen);
  }
}
