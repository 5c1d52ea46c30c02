// Slots of a list are taken with atomics; who reads the list needs a barrier.
// launch: --arch sm_80 --grid 1 --block 64 --arg list:s32[5,-1*10,7*53] --arg zeros:s32[1]
// help: __syncthreads()
__global__ void collect(const int* x, int* y) {
  __shared__ int list[64], n;
  if (threadIdx.x == 0) n = 0;
  __syncthreads();
  if (x[threadIdx.x] > 0) list[atomicAdd(&n, 1)] = x[threadIdx.x];
#ifdef SOUND
  __syncthreads();
#endif
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += list[i];
    *y = sum;
  }
}
