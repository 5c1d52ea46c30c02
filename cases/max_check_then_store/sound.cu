// Largest element of a grid, among floats of both signs.
// Bits of floats order as signed integers do if those of negative ones are turned round.
// expect: pass
__global__ void largest(const float* x, int* best) {
  int bits = __float_as_int(x[blockIdx.x * blockDim.x + threadIdx.x]);
  int key = bits ^ (bits >> 31 & 0x7fffffff);
  atomicMax(best, key);
}
