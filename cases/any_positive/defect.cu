// Looks for a positive element.
// Defect: every thread that finds one stores its own index, and the last one wins.
// expect: race global @A @A
__global__ void any_positive(const float* x, int* found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] > 0.0f) *found = i; // @A
}
