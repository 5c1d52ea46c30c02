// Largest element of a grid, among floats of both signs.
// Defect: the check whether an element is larger and the store are two steps.
// expect: race global @A @A
__global__ void largest(const float* x, int* best) {
  int bits = __float_as_int(x[blockIdx.x * blockDim.x + threadIdx.x]);
  int key = bits ^ (bits >> 31 & 0x7fffffff);
  if (*best < key) *best = key; // @A
}
