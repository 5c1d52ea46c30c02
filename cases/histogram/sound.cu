// Counts keys by their value modulo 64, one histogram a block, with atomic increments.
// expect: pass
__global__ void histogram(const unsigned* keys, unsigned* counts, int items) {
  __shared__ unsigned bins[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int k = 0; k < items; ++k) {
    unsigned key = keys[(blockIdx.x * items + k) * blockDim.x + threadIdx.x];
    atomicAdd(&bins[key % 64], 1u);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) counts[blockIdx.x * 64 + b] = bins[b];
}
