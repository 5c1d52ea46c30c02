// One pass of a radix sort: each block sorts its pairs by two bits of the key.
// A thread's place within its digit is the number of such digits before it.
// expect: pass proved
__global__ void radix_pass(const unsigned* x, unsigned* y) {
  __shared__ unsigned char digits[1024];
  int t = threadIdx.x, n = blockDim.x;
  unsigned v = x[blockIdx.x * n + t], digit = v & 3;
  digits[t] = digit;
  __syncthreads();
  unsigned place = 0;
  for (int i = 0; i < n; ++i) place += digits[i] < digit || (digits[i] == digit && i < t);
  y[blockIdx.x * n + place] = v;
}
