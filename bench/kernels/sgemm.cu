// SGEMM in shared-memory tiles of 32, a square of side n (a multiple of 32); one output a thread.
extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int n) {
  __shared__ float as[32][32], bs[32][32];
  int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += 32) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) sum = __fmaf_rn(as[threadIdx.y][k], bs[k][threadIdx.x], sum);
    __syncthreads();
  }
  c[row * n + column] = sum;
}
