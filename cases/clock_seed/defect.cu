// Dropout: about half of the elements are set to zero.
// Defect: the seed of the mask is the clock.
// expect: nondeterministic @A
__global__ void dropout(const float* x, float* y, unsigned seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  seed += clock64(); // @A
  unsigned h = (i ^ seed) * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  y[i] = (h ^ h >> 13) & 1 ? x[i] : 0.0f;
}
