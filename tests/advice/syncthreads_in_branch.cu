// A barrier in a branch that only half of the block takes.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:s32[64] --arg out:256
__global__ void half(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
#ifdef SOUND
  __syncthreads();
#else
  if (t < 16) __syncthreads();
#endif
  y[t] = s[63 - t];
}
