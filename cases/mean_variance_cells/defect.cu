// Layer norm of short rows: warp 0 computes mean and variance, the whole block reads them from two
// shared cells and normalises.
// Defect: warp 0 goes on to the next row and overwrites both cells under the readers, its own other
// lanes among them (a shuffle orders nothing).
// expect: race shared @A @B
// expect: race shared @C @D
__global__ void layer_norm(const float* x, float* y, int rows, int cols) {
  __shared__ float mean_cell, variance_cell;
  for (int r = 0; r < rows; ++r) {
    const float* in = x + (blockIdx.x * rows + r) * cols;
    float* out = y + (blockIdx.x * rows + r) * cols;
    if (threadIdx.x < 32) {
      float s = 0.0f, q = 0.0f;
      for (int c = threadIdx.x; c < cols; c += 32) {
        s += in[c];
        q += in[c] * in[c];
      }
      for (int offset = 16; offset > 0; offset /= 2) {
        s += __shfl_xor_sync(0xffffffffu, s, offset);
        q += __shfl_xor_sync(0xffffffffu, q, offset);
      }
      if (threadIdx.x == 0) {
        float m = s / cols;
        mean_cell = m;                    // @A
        variance_cell = q / cols - m * m; // @C
      }
    }
    __syncthreads();
    float mean = mean_cell;                      // @B
    float scale = rsqrtf(variance_cell + 1e-5f); // @D
    for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = (in[c] - mean) * scale;
  }
}
