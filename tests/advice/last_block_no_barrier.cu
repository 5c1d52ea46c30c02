// The last block: thread 0 counts while the other threads of its block may still have to write.
// launch: --arch sm_80 --grid 3 --block 64 --arg rand:s32[192] --arg out:768 --arg zeros:u32[1] --arg out:4
// help: __syncthreads() between
__global__ void total(const int* x, int* part, unsigned* count, int* y) {
  __shared__ bool last;
  int i = blockIdx.x * 64 + threadIdx.x;
  part[i] = 3 * x[i]; // @A
  __threadfence();
#ifdef SOUND
  __syncthreads();
#endif
  if (threadIdx.x == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    int sum = 0;
    for (int k = 0; k < gridDim.x * 64; ++k) sum += part[k]; // @B
    *y = sum;
  }
}
