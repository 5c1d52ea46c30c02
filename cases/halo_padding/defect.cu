// Blurs a signal with weights 1/4, 1/2, 1/4 through a tile with one cell of padding on each side.
// Defect: at the signal's left end nobody fills the padding.
// expect: uninitialised-read shared @A
__global__ void blur(const float* x, float* y, int n) {
  __shared__ float tile[1026];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int t = threadIdx.x + 1;
  tile[t] = x[i];
  if (threadIdx.x == 0 && i > 0) tile[0] = x[i - 1];
  if (threadIdx.x == blockDim.x - 1) tile[t + 1] = i + 1 < n ? x[i + 1] : 0.0f;
  __syncthreads();
  float left = tile[t - 1]; // @A
  float right = tile[t + 1];
  y[i] = 0.5f * tile[t] + 0.25f * (left + right);
}
