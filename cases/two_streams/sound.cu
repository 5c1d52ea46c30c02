// Two launches, each on a stream of its own: the first scales a vector, the second moves it by
// one element.
// The second stream waits for an event that was recorded behind the first launch.
// expect: pass proved
__global__ void scale(const float* x, float* scaled) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  scaled[i] = 3.0f * x[i];
}

__global__ void shift(const float* scaled, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i + 1 < n ? scaled[i + 1] : 0.0f;
}
