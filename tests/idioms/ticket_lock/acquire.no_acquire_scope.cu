// acquire.cu without `acquire_scope`; written by tests/idioms/derive.py.
// Running sum and count under a lock that serves in the order of tickets: ld.acquire waits for
// one's turn, st.release gives it on.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:u32[1,2,3,4,5,6] --arg zeros:u32[2]
// launch: --arg zeros:u32[2]
// expect: race global @A @A
// expect: race-without-consequence global @R @P
__device__ unsigned turn(const unsigned* serving) {
  unsigned v;
  asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(v) : "l"(serving) : "memory"); // @P
  return v;
}

__device__ void pass_on(unsigned* serving, unsigned to) {
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(serving), "r"(to) : "memory"); // @R
}

__global__ void account(const unsigned* x, unsigned* totals, unsigned* lock) {
  if (threadIdx.x % 32 != 0) return;
  unsigned v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  unsigned mine = atomicAdd(&lock[0], 1);
  while (turn(&lock[1]) != mine) {
  }
  totals[0] += v, totals[1] += 1; // @A
  pass_on(&lock[1], mine + 1);
}
