// Blocks take items by number until none remains; one thread looks in each round and tells the others through shared memory.
// launch: --entry rounds --grid 2 --block 64 --arg inlist:s32[8] --arg zeros:u32[1] --arg zeros:u32[1]
// want 2 u32: 28
// expect: pass
extern "C" __global__ void rounds(int* remaining, unsigned* taken, unsigned* sum) {
  __shared__ int again, mine;
  for (;;) {
    if (threadIdx.x == 0) {
      const unsigned item = *(volatile unsigned*)taken < 8 ? atomicAdd(taken, 1) : 8;
      mine = item < 8 ? (int)item : -1;
      again = *(volatile int*)remaining > 0;
    }
    __syncthreads();
    if (mine < 0 && !again) break;
    if (mine >= 0) {
      if (threadIdx.x == 33) atomicAdd(sum, mine);
#ifndef NO_BARRIER
      __syncthreads();
#endif
      if (threadIdx.x == 0) atomicSub(remaining, 1);
    }
#ifndef NO_BARRIER
    __syncthreads();
#endif
  }
  if (threadIdx.x == 0) atomicMin(taken, 8);
}
