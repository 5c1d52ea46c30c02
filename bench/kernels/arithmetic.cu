// Converged f32 arithmetic: independent chains of multiply-adds, no memory in the loop.
extern "C" __global__ void arithmetic(float* out, int n) {
  float a = threadIdx.x * 0.5f, b = 1.0009765625f, c[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) c[k] = k + threadIdx.x;
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int u = 0; u < 8; ++u)
#pragma unroll
      for (int k = 0; k < 8; ++k) c[k] = __fmaf_rn(c[k], b, a);
  }
  float s = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) s += c[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
