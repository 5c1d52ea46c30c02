// Bins are cleared and counted with atomics, without a barrier between the two.
// launch: --arch sm_80 --grid 1 --block 128 --arg rand:u32[128] --arg out:256
// help: __syncthreads() between line
__global__ void histogram(const unsigned* x, unsigned* y) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0; // @A
#ifdef SOUND
  __syncthreads();
#endif
  atomicAdd(&bins[x[threadIdx.x] % 64], 1u); // @B
  __syncthreads();
  if (threadIdx.x < 64) y[threadIdx.x] = bins[threadIdx.x];
}
