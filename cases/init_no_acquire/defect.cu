// Whoever comes first fills a table that all blocks use.
// Defect: who finds it filled reads it without an acquire.
// expect: race global @A @B
__device__ unsigned state = 0; // 0: nobody was here, 1: somebody fills, 2: filled

__global__ void lookup(const unsigned* x, float* table, float* y) {
  if (threadIdx.x == 0) {
    if (atomicCAS(&state, 0u, 1u) == 0) {
      for (int k = 0; k < 16; ++k) table[k] = k * k; // @A
      __threadfence();
      atomicExch(&state, 2u);
    } else {
      while (*(volatile unsigned*)&state != 2) {
      }
    }
  }
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = table[x[i] % 16]; // @B
}
