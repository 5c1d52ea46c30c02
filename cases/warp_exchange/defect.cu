// Each lane trades values with its neighbour through shared memory, several times.
// Defect: no __syncwarp between the store and the neighbour's load. The lanes of a warp may run
// apart, whatever a simple execution suggests.
// expect: race shared @A @B
__global__ void smooth_pairs(const float* x, float* y, int turns) {
  __shared__ float cell[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  cell[threadIdx.x] = 0.0f;
  __syncwarp();
  for (int t = 0; t < turns; ++t) {
    cell[threadIdx.x] = v;                         // @A
    v = 0.75f * v + 0.25f * cell[threadIdx.x ^ 1]; // @B
    __syncwarp();
  }
  y[i] = v;
}
