// Dot products: all threads store their terms, thread 0 adds them up, then the next turn begins.
// Defect: the others store the next turn's terms while thread 0 still adds.
// expect: race shared @A @B
__global__ void dot_products(const float* a, const float* b, float* dots, int turns) {
  __shared__ float terms[1024];
  for (int t = 0; t < turns; ++t) {
    int vec = blockIdx.x * turns + t;
    int i = vec * blockDim.x + threadIdx.x;
    terms[threadIdx.x] = a[i] * b[i]; // @A
    __syncthreads();
    if (threadIdx.x == 0) {
      float sum = 0.0f;
      for (int j = 0; j < blockDim.x; ++j) sum += terms[j]; // @B
      dots[vec] = sum;
    }
  }
}
