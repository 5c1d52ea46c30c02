// Adds neighbouring elements in pairs; with an odd count the last one stands alone.
// expect: pass proved
__global__ void add_pairs(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i >= n) return;
  float left = x[2 * i];
  float right = 2 * i + 1 < n ? x[2 * i + 1] : 0.0f;
  y[i] = left + right;
}
