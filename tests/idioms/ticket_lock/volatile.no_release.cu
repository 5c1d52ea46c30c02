// volatile.cu without `release`; written by tests/idioms/derive.py.
// Running sum and count under a lock that serves in the order of tickets, all of it volatile.
// launch: --arch sm_80 --grid 3 --block 64 --arg list:u32[1,2,3,4,5,6] --arg zeros:u32[2]
// launch: --arg zeros:u32[2]
// expect: nondeterministic global @A @A
__global__ void account(const unsigned* x, volatile unsigned* totals, volatile unsigned* lock) {
  if (threadIdx.x % 32 != 0) return;
  unsigned v = x[(blockIdx.x * blockDim.x + threadIdx.x) / 32];
  unsigned mine = atomicAdd((unsigned*)&lock[0], 1);
  while (lock[1] != mine) {
  }
  __threadfence();
  totals[0] = totals[0] + v, totals[1] = totals[1] + 1; // @A
  lock[1] = mine + 1;
}
