// A tree reduction without the barrier in its loop.
// launch: --arch sm_80 --grid 2 --block 256 --arg rand:s32[512] --arg out:8
// help: __syncthreads()
__global__ void sum(const int* x, int* y) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int k = 128; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k]; // @A @B
#ifdef SOUND
    __syncthreads();
#endif
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
