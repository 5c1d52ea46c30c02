// Rounding makes the order of atomic additions visible. No fence helps: nobody looks at what the others have added.
// launch: --arch sm_80 --grid 2 --block 32 --arg rand:f32[64] --arg zeros:f32[1]
// help: fixed order
// not: fence
__global__ void sum(const float* x, float* y) {
  float v = x[blockIdx.x * blockDim.x + threadIdx.x];
#ifdef SOUND
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    v = 0;
    for (int i = 0; i < 64; ++i) v += x[i];
    *y = v;
  }
#else
  atomicAdd(y, v); // @A
#endif
}
