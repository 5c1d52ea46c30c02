// The result is read before the last barrier: thread 0's partial is there, the others' are not.
// launch: --arch sm_80 --grid 1 --block 128 --arg rand:s32[128] --arg out:4
// help: __syncthreads() between line
__global__ void sum(const int* x, int* y) {
  __shared__ int s[4];
  int v = x[threadIdx.x];
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v; // @A
#ifdef SOUND
  __syncthreads();
#endif
  if (threadIdx.x == 0) *y = s[0] + s[1] + s[2] + s[3]; // @B
}
