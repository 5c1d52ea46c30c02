// Smooths rows with a window of five, a row at a time through a tile with two cells of padding.
// expect: pass proved
__global__ void smooth(const float* x, float* y, int rows) {
  __shared__ float tile[1028];
  int t = threadIdx.x, n = blockDim.x;
  if (t < 2) tile[t] = tile[n + 2 + t] = 0.0f;
  for (int r = blockIdx.x * rows; r < (blockIdx.x + 1) * rows; ++r) {
    tile[t + 2] = x[r * n + t];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) sum += tile[t + k];
    y[r * n + t] = 0.2f * sum;
    __syncthreads();
  }
}
