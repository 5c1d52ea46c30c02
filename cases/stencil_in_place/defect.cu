// Average of each element and its right neighbour.
// Defect: the result goes where the neighbour still reads.
// expect: race global @A @B
__global__ void smooth(float* x) {
  int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0.5f * (x[i] + x[(i + 1) % n]); // @A
  x[i] = v; // @B
}
