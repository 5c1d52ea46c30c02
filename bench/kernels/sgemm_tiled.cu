// SGEMM as libraries write it: a tile of 64 x 64 a block in shared memory, 4 x 4 outputs a thread in
// registers, a square of side n (a multiple of 64); 256 threads. b is read as it lies, a transposed.
extern "C" __global__ void sgemm_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ __align__(16) float as[16][64], bs[16][64];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int t = 0; t < n; t += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      as[i / 64][i % 64] = a[(row + i % 64) * n + t + i / 64];
      bs[i / 64][i % 64] = b[(t + i / 64) * n + column + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float4 x = *reinterpret_cast<const float4*>(&as[k][4 * ty]);
      float4 y = *reinterpret_cast<const float4*>(&bs[k][4 * tx]);
      float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = __fmaf_rn(xs[i], ys[j], sum[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row + 4 * ty + i) * n + column + 4 * tx + j] = sum[i][j];
}
