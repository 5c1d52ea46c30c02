// Block sum whose last six steps run in one warp on a volatile pointer, as was usual before lanes
// could run apart.
// Defect: nothing keeps the lanes of that warp in step. Volatile accesses are strong, so this is no
// race but an order that the result depends on.
// expect: nondeterministic shared @A @A
__global__ void block_sums(const float* x, float* sums) {
  __shared__ float scratch[1024];
  int tid = threadIdx.x;
  scratch[tid] = x[blockIdx.x * blockDim.x + tid];
  __syncthreads();
  for (int half = blockDim.x / 2; half > 32; half /= 2) {
    if (tid < half) scratch[tid] += scratch[tid + half];
    __syncthreads();
  }
  if (tid < 32) {
    volatile float* s = scratch;
    for (int offset = 32; offset > 0; offset /= 2) s[tid] += s[tid + offset]; // @A
    if (tid == 0) sums[blockIdx.x] = s[0];
  }
}
