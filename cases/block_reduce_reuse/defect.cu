// Row sums: one block walks over several rows and uses the same shared scratch for each of them.
// Defect: nothing keeps a fast warp from storing its partial sum of the next row while warp 0 still
// reads those of this one.
// expect: race shared @A @B
__device__ float warp_sum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  return v;
}

__global__ void row_sums(const float* x, float* sums, int rows, int cols) {
  __shared__ float partial[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int r = 0; r < rows; ++r) {
    int row = blockIdx.x * rows + r;
    float v = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) v += x[row * cols + c];
    v = warp_sum(v);
    if (lane == 0) partial[warp] = v; // @A
    __syncthreads();
    if (warp == 0) {
      v = 0.0f;
      if (lane < blockDim.x / 32) v = partial[lane]; // @B
      v = warp_sum(v);
      if (lane == 0) sums[row] = v;
    }
  }
}
