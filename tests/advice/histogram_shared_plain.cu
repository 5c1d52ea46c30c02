// Bins of a block, in shared memory, are counted without atomics.
// launch: --arch sm_80 --grid 1 --block 64 --arg list:u32[1,2,3,0*61] --arg out:32
// help: atomic
__global__ void histogram(const unsigned* x, unsigned* y) {
  __shared__ unsigned bins[8];
  if (threadIdx.x < 8) bins[threadIdx.x] = 0;
  __syncthreads();
#ifdef SOUND
  atomicAdd(&bins[x[threadIdx.x] % 8], 1u);
#else
  bins[x[threadIdx.x] % 8]++; // @A @B
#endif
  __syncthreads();
  if (threadIdx.x < 8) y[threadIdx.x] = bins[threadIdx.x];
}
