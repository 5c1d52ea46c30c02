// Two kernels, fused into one launch: the first half of the blocks scales a vector, the second half
// takes differences of it.
// Each half keeps to a vector of its own: the second scales for itself what it reads.
// expect: pass proved
__global__ void scale_and_differ(const float* x, float* scaled, float* d) {
  int half = gridDim.x / 2, n = half * blockDim.x;
  int i = blockIdx.x % half * blockDim.x + threadIdx.x;
  if (blockIdx.x < half)
    scaled[i] = 3.0f * x[i];
  else
    d[i] = 3.0f * x[(i + 1) % n] - 3.0f * x[i];
}
