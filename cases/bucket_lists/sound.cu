// Puts elements into buckets of equal value modulo 8.
// An element's successor is the next one with its value.
// expect: pass proved
__global__ void link(const unsigned* x, int* next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int n = gridDim.x * blockDim.x, j = i + 1;
  while (j < n && x[j] % 8 != x[i] % 8) ++j;
  next[i] = j < n ? j : -1;
}
