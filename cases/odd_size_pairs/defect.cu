// Adds neighbouring elements in pairs.
// Defect: with an odd count the last thread reads one element past the end.
// expect: out-of-bounds global @A
__global__ void add_pairs(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i >= n) return;
  float left = x[2 * i];
  float right = x[2 * i + 1]; // @A
  y[i] = left + right;
}
