// A source for the excerpts of the golden files; no test compiles it.
__global__ void shift(const float *x, float *y) {
  __shared__ float cell[64];
  int i = threadIdx.x;
  cell[i] = x[i]; // a comment that the marks leave out
  y[i] = cell[63 - i];
}
