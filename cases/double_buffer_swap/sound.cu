// Weighted sums over a stream of tiles: two stages, one being read while the other waits, and a
// barrier before a stage is refilled.
// expect: pass proved
__global__ void pipelined_sums(const float* x, float* y, int turns) {
  __shared__ float stage[2][1024];
  int tid = threadIdx.x;
  const float* in = x + blockIdx.x * turns * blockDim.x;
  stage[0][tid] = in[tid];
  stage[1][tid] = in[blockDim.x + tid];
  __syncthreads();
  float acc = 0.0f;
  for (int t = 0; t < turns; ++t) {
    acc += (t + 1) * stage[t % 2][(tid + 32) % blockDim.x];
    __syncthreads();
    if (t + 2 < turns) stage[t % 2][tid] = in[(t + 2) * blockDim.x + tid];
  }
  y[blockIdx.x * blockDim.x + tid] = acc;
}
