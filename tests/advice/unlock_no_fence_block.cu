// A spin lock in shared memory, taken by the warps of one block; no fence before the unlock.
// launch: --arch sm_80 --grid 1 --block 128 --arg zeros:s32[1]
// help: __threadfence_block() before
// not: __sync
__global__ void count(int* total) {
  __shared__ int lock, sum;
  if (threadIdx.x == 0) lock = 0, sum = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    __threadfence_block();
    sum += int(threadIdx.x);
#ifdef SOUND
    __threadfence_block();
#endif
    atomicExch(&lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) *total = sum;
}
