// Dropout: about half of the elements are set to zero.
// The seed of the mask is a parameter.
// expect: pass proved
__global__ void dropout(const float* x, float* y, unsigned seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned h = (i ^ seed) * 2654435761u;
  h = (h ^ h >> 15) * 2246822519u;
  y[i] = (h ^ h >> 13) & 1 ? x[i] : 0.0f;
}
