// Shifts and squares an array.
// Defect: the shift is stored back to the input, which the caller still needs.
// expect: input-modified global @A
__global__ void shifted_squares(float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = x[i] - 1.0f; // @A
  y[i] = x[i] * x[i];
}
