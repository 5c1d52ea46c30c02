// A barrier of the grid: the last block puts the counter back and lets the others go, and sometimes nobody gets any further.
// launch: --arch sm_80 --grid 2 --block 32 --arg zeros:u32[2] --arg zeros:u32[1]
// kind: hang
// help: __threadfence() before the flag's store
// not: Check who sets the condition
__device__ void meet(volatile unsigned* counter, volatile unsigned* turn) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned now = *turn;
    __threadfence();
    if (atomicAdd(const_cast<unsigned*>(counter), 1) == gridDim.x - 1) {
      *counter = 0;
#ifdef SOUND
      __threadfence();
#endif
      *turn = now + 1;
    } else {
      while (*turn == now) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void rounds(unsigned* state, unsigned* done) {
  for (int i = 0; i < 3; ++i) meet(state, state + 1);
  if (blockIdx.x == 0 && threadIdx.x == 0) *done = 3;
}
