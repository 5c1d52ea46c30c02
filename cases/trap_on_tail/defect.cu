// Doubles n elements.
// Defect: threads beyond the end trap where they should return.
// expect: trap @A
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) __trap(); // @A
  y[i] = 2.0f * x[i];
}
