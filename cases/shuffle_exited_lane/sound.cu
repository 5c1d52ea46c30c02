// Sum of each warp's elements below a limit; the lanes above it leave at once.
// Lanes above the limit stay and add nothing.
// expect: pass proved
__global__ void warp_sums(const float* x, float* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float v = lane < n ? x[i] : 0.0f;
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  if (lane == 0) sums[i / 32] = v;
}
