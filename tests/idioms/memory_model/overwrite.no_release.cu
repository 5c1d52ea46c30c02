// overwrite.cu without `release`; written by tests/idioms/derive.py.
// Who has seen a thread's second write overwrites its first (the test S): that one cannot come after.
// launch: --arch sm_80 --grid 2 --block 1 --arg zeros:u32[128] --arg zeros:u32[4]
// launch: --arg zeros:u32[1] --arg zeros:u32[1]
// expect: nondeterministic global @P @P
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

__global__ void overwrite(u32* x, u32* seen, u32* done, u32* bad) {
  u32* y = x + 32;
  if (blockIdx.x == 0) {
    put(x, 2);
    put(y, 1);
  } else {
    seen[0] = get(y);
    __threadfence();
    put(x, 1);
  }
  if (last(done)) {
    if (seen[0] == 1 && get(x) == 2) *bad = 1;
    clear(x, seen);
  }
}
