// Where each of 64 values is seen first, in a table that starts with the value for "never".
// Defect: the check whether a place is free and taking it are two steps.
// expect: race global @A @A
__global__ void first_seen(const unsigned* keys, unsigned* where) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, key = keys[i] % 64;
  if (where[key] == 0xffffffffu) where[key] = i; // @A
}
