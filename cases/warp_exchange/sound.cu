// Each lane trades values with its neighbour through shared memory, several times, with __syncwarp
// after the store and after the load.
// expect: pass proved
__global__ void smooth_pairs(const float* x, float* y, int turns) {
  __shared__ float cell[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int t = 0; t < turns; ++t) {
    cell[threadIdx.x] = v;
    __syncwarp();
    v = 0.75f * v + 0.25f * cell[threadIdx.x ^ 1];
    __syncwarp();
  }
  y[i] = v;
}
