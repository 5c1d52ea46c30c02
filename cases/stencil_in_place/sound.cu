// Average of each element and its right neighbour.
// expect: pass proved
__global__ void smooth(const float* x, float* y) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0.5f * (x[i] + x[(i + 1) % n]);
  y[i] = v;
}
