// Sum of each warp's elements below a limit; the lanes above it leave at once.
// Defect: a shuffle down reads lanes that have left, whose value is nobody's.
// expect: unspecified-value @A
__global__ void warp_sums(const float* x, float* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  if (lane >= n) return;
  float v = x[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d); // @A
  if (lane == 0) sums[i / 32] = v;
}
