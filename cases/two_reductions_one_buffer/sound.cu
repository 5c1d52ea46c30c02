// Softmax of one row a block: a maximum and then a sum are reduced through the same shared buffer,
// with a barrier between the last read of the one and the first store of the other.
// expect: pass proved
__global__ void softmax_rows(const float* x, float* y, int cols) {
  __shared__ float scratch[1024];
  int tid = threadIdx.x;
  const float* row = x + blockIdx.x * cols;

  float m = -3.0e38f;
  for (int c = tid; c < cols; c += blockDim.x) m = fmaxf(m, row[c]);
  scratch[tid] = m;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (tid < half) scratch[tid] = fmaxf(scratch[tid], scratch[tid + half]);
  }
  __syncthreads();
  m = scratch[0];
  __syncthreads();

  float sum = 0.0f;
  for (int c = tid; c < cols; c += blockDim.x) sum += expf(row[c] - m);
  scratch[tid] = sum;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (tid < half) scratch[tid] += scratch[tid + half];
  }
  __syncthreads();
  sum = scratch[0];

  for (int c = tid; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = expf(row[c] - m) / sum;
}
