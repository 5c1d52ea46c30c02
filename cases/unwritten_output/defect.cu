// Halves n elements.
// Defect: the bound is one too low, and the last element is never written.
// expect: unwritten-output
__global__ void halve(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) y[i] = 0.5f * x[i];
}
