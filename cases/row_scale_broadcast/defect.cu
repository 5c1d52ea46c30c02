// Divides each row of 32 by its largest magnitude, a row a warp, several rows one after the other.
// Defect: lane 0 leaves the largest in shared memory, and the others read it after a shuffle, which
// orders nothing.
// expect: race shared @A @B
__global__ void normalise(const float* x, float* y) {
  __shared__ float largest[2][32];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int turn = 0; turn < 2; ++turn) {
    int i = (blockIdx.x * 2 + turn) * blockDim.x + threadIdx.x;
    float m = fabsf(x[i]);
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_down_sync(0xffffffffu, m, d));
    if (lane == 0) largest[turn][warp] = m; // @A
    __shfl_sync(0xffffffffu, m, 0);
    y[i] = x[i] / largest[turn][warp]; // @B
  }
}
