// Counts keys by their value modulo 64, one histogram a block.
// Defect: the increment is a load and a store, so threads with equal keys lose counts.
// expect: race shared @A @A
__global__ void histogram(const unsigned* keys, unsigned* counts, int items) {
  __shared__ unsigned bins[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  for (int k = 0; k < items; ++k) {
    unsigned key = keys[(blockIdx.x * items + k) * blockDim.x + threadIdx.x];
    bins[key % 64]++; // @A
  }
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) counts[blockIdx.x * 64 + b] = bins[b];
}
