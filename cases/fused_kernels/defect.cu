// Two kernels, fused into one launch: the first half of the blocks scales a vector, the second half
// takes differences of it.
// Defect: as two launches in one stream the second came after the first; as two halves of one launch
// nothing orders them.
// expect: race global @A @B
__global__ void scale_and_differ(const float* x, float* scaled, float* d) {
  int half = gridDim.x / 2, n = half * blockDim.x;
  int i = blockIdx.x % half * blockDim.x + threadIdx.x;
  if (blockIdx.x < half)
    scaled[i] = 3.0f * x[i]; // @A
  else
    d[i] = scaled[(i + 1) % n] - scaled[i]; // @B
}
