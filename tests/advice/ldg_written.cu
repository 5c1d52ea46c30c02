// Values are read through the read-only cache while the kernel writes them.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:s32[64] --arg zeros:s32[64]
// help: __ldg|non-coherent
__global__ void scan(int* x, int* y) {
  int t = threadIdx.x;
  x[t] = x[t] + 1;
  __syncthreads();
#ifdef SOUND
  y[t] = x[63 - t];
#else
  y[t] = __ldg(&x[63 - t]);
#endif
}
