// Bins are read while others still count.
// launch: --arch sm_80 --grid 1 --block 128 --arg rand:u32[128] --arg out:256
// help: __syncthreads() between line
__global__ void histogram(const unsigned* x, unsigned* y) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[x[threadIdx.x] % 64], 1u); // @A
#ifdef SOUND
  __syncthreads();
#endif
  if (threadIdx.x < 64) y[threadIdx.x] = bins[threadIdx.x]; // @B
}
