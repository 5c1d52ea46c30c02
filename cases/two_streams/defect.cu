// Two launches, each on a stream of its own: the first scales a vector, the second moves it by
// one element.
// Defect: nothing makes the second stream wait for the first, so that the two launches may overlap or
// run in either order.
// expect: race global @A @B
__global__ void scale(const float* x, float* scaled) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  scaled[i] = 3.0f * x[i]; // @A
}

__global__ void shift(const float* scaled, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i + 1 < n ? scaled[i + 1] : 0.0f; // @B
}
