// Doubles an array in place.
// expect: pass proved
__global__ void twice_in_place(float* x) {
#if __CUDA_ARCH__ >= 700
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 2.0f * x[i];
#endif
}
