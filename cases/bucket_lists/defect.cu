// Puts elements into buckets of equal value modulo 8.
// Defect: each element is pushed to the front of its bucket's list, so that the list's order is that of
// coming.
// expect: nondeterministic global @A @A
__device__ int front[8] = {-1, -1, -1, -1, -1, -1, -1, -1};

__global__ void link(const unsigned* x, int* next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = atomicExch(&front[x[i] % 8], i); // @A
}
