// fenced.cu without `acquire`; written by tests/idioms/derive.py.
// Running sum and count under a lock that serves in the order of tickets; fences around plain data.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:u32[1,2,3,4,5,6] --arg zeros:u32[2]
// launch: --arg zeros:u32[2]
// expect: race global @A @A
struct Lock {
  unsigned next, serving;
};

__global__ void account(const unsigned* x, unsigned* totals, Lock* lock) {
  if (threadIdx.x % 32 != 0) return;
  unsigned v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  volatile unsigned* serving = &lock->serving;
  unsigned mine = atomicAdd(&lock->next, 1);
  while (*serving != mine) {
  }
  totals[0] += v, totals[1] += 1; // @A
  __threadfence();
  *serving = mine + 1;
}
