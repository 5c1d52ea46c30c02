// Sums of 16 elements by the lower half of each warp.
// Defect: the mask names the upper half.
// expect: invalid-lane-mask @A
__global__ void sums_of_16(const float* x, float* sums) {
  int lane = threadIdx.x % 32;
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (lane < 16) {
    float v = x[warp * 16 + lane];
    for (int offset = 8; offset > 0; offset /= 2)
      v += __shfl_down_sync(0xffff0000u, v, offset, 16); // @A
    if (lane == 0) sums[warp] = v;
  }
}
