// One pass of a radix sort: each block sorts its pairs by two bits of the key.
// Defect: places within a digit are given out by an atomic, so that equal digits change places.
// expect: nondeterministic shared @A @A
__global__ void radix_pass(const unsigned* x, unsigned* y) {
  __shared__ int start[4];
  __shared__ unsigned next[4];
  int t = threadIdx.x, n = blockDim.x;
  unsigned v = x[blockIdx.x * n + t], digit = v & 3;
  if (t < 4) start[t] = next[t] = 0;
  __syncthreads();
  for (unsigned d = digit + 1; d < 4; ++d) atomicAdd(&start[d], 1);
  __syncthreads();
  unsigned place = start[digit] + atomicAdd(&next[digit], 1u); // @A
  y[blockIdx.x * n + place] = v;
}
