// Adds a tall matrix of eight columns to a row of eight sums.
// Defect: float addition is not associative, so the bits depend on the order of the atomics.
// expect: nondeterministic global @A @A
__global__ void column_sums(const float* x, float* sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&sums[i % 8], x[i]); // @A
}
