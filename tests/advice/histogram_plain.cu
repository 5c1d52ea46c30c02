// Bins are counted without atomics.
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[1,2,3,0*125] --arg zeros:u32[8]
// help: atomic
__global__ void histogram(const unsigned* x, unsigned* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef SOUND
  atomicAdd(&bins[x[i] % 8], 1u);
#else
  bins[x[i] % 8] += 1; // @A @B
#endif
}
