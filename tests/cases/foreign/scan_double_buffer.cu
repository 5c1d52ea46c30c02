// Exclusive scan by doubling steps between two halves of a shared buffer.
// launch: --entry scan --grid 2 --block 64 --arg rand:s32[256] --arg out:1024
// expect: pass proved
extern "C" __global__ void scan(const int* x, int* y) {
  __shared__ int temp[2 * 128];
  int t = threadIdx.x;
  int out = 0, in = 1, n = 64;
  x += blockIdx.x * 128; y += blockIdx.x * 128;
  for (int h = 0; h < 2; ++h, x += 64, y += 64) {
  temp[t] = t > 0 ? x[t - 1] : 0;
  out = 0, in = 1;
  __syncthreads();
  for (int d = 1; d < n; d *= 2) {
#ifndef ONE_BUFFER
    out = 1 - out; in = 1 - out;
#else
    in = out = 0;
#endif
    temp[out * n + t] = temp[in * n + t] + (t >= d ? temp[in * n + t - d] : 0);
    __syncthreads();
  }
  y[t] = temp[out * n + t];
  __syncthreads();
  }
}
