// Adds a tall matrix of eight columns to a row of eight sums in fixed point: integer addition gives
// the same bits in every order.
// expect: pass
__global__ void column_sums(const float* x, unsigned long long* sums) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long fixed = __float2ll_rn(x[i] * 1048576.0f);
  atomicAdd(&sums[i % 8], (unsigned long long)fixed);
}
