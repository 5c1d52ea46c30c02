// Counts keys by their value modulo 64 in bins of the block, which are added to those of the grid.
// expect: pass
__global__ void histogram(const unsigned* keys, int* counts) {
  __shared__ unsigned bins[64];
  for (int b = threadIdx.x; b < 64; b += blockDim.x) bins[b] = 0;
  __syncthreads();
  atomicAdd(&bins[keys[blockIdx.x * blockDim.x + threadIdx.x] % 64], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < 64; b += blockDim.x) atomicAdd(&counts[b], int(bins[b]));
}
