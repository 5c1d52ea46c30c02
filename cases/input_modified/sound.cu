// Shifts and squares an array.
// expect: pass proved
__global__ void shifted_squares(float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i] - 1.0f;
  y[i] = v * v;
}
