// A stencil in place: neighbours are read while their threads write.
// launch: --arch sm_80 --grid 1 --block 128 --arg rand:s32[128]
// help: __syncthreads() between line
__global__ void blur(int* x) {
  int i = threadIdx.x;
  int v = x[i] + x[(i + 1) % 128]; // @A
#ifdef SOUND
  __syncthreads();
#endif
  x[i] = v; // @B
}
