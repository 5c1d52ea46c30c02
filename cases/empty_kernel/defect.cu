// Doubles an array in place.
// Defect: the body is guarded by an architecture that this build is not for, and nothing is left.
// expect: empty-kernel
__global__ void twice_in_place(float* x) {
#if __CUDA_ARCH__ >= 2000
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 2.0f * x[i];
#endif
}
