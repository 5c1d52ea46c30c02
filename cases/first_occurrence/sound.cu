// Where each of 64 values is seen first, in a table that starts with the value for "never".
// expect: pass
__global__ void first_seen(const unsigned* keys, unsigned* where) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i] % 64;
  atomicMin(&where[key], i);
}
