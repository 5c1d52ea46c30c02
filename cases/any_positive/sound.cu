// Looks for a positive element. Every thread that finds one stores the same value.
// expect: pass
// expect: value-race global @A @A
__global__ void any_positive(const float* x, int* found) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] > 0.0f) *found = 1; // @A
}
