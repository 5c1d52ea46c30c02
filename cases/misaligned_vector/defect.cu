// Copies a signal that starts behind a header of one float, four elements at a time.
// Defect: behind the header no element of four is aligned to 16 bytes.
// expect: misaligned global @A
__global__ void skip_header(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  reinterpret_cast<float4*>(y)[i] = *reinterpret_cast<const float4*>(x + 1 + 4 * i); // @A
}
