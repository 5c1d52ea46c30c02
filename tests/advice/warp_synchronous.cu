// Warp-synchronous reduction as before Volta: volatile, no __syncwarp().
// launch: --arch sm_80 --grid 1 --block 32 --arg rand:s32[32] --arg out:4
// help: __syncwarp()
__global__ void sum(const int* x, int* y) {
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 32] = 0;
#ifdef SOUND
  __syncwarp();
  for (int k = 16; k; k /= 2) {
    int v = s[t + k];
    __syncwarp();
    s[t] += v;
    __syncwarp();
  }
#else
  for (int k = 16; k; k /= 2) s[t] += s[t + k];
#endif
  if (t == 0) *y = s[0];
}
