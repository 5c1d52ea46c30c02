// Sums of 16 elements by the lower half of each warp.
// expect: pass proved
__global__ void sums_of_16(const float* x, float* sums) {
  int lane = threadIdx.x % 32;
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (lane < 16) {
    float v = x[warp * 16 + lane];
    for (int offset = 8; offset > 0; offset /= 2) v += __shfl_down_sync(0x0000ffffu, v, offset, 16);
    if (lane == 0) sums[warp] = v;
  }
}
