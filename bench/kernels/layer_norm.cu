// Layer normalisation: one CTA a row, mean and variance by warp shuffles and shared memory.
__device__ float block_sum(float v, float* cells) {
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
  if (threadIdx.x % 32 == 0) cells[threadIdx.x / 32] = v;
  __syncthreads();
  float s = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) s += cells[w];
  __syncthreads();
  return s;
}
extern "C" __global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y, int n) {
  __shared__ float cells[32];
  const float* row = x + (size_t)blockIdx.x * n;
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
  float mean = block_sum(sum, cells) / n, square = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    float d = row[i] - mean;
    square += d * d;
  }
  float scale = rsqrtf(block_sum(square, cells) / n + 1e-5f);
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    y[(size_t)blockIdx.x * n + i] = (row[i] - mean) * scale * gain[i] + bias[i];
}
