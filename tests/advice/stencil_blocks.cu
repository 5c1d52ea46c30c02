// The same over several blocks, where no barrier helps.
// launch: --arch sm_80 --grid 2 --block 32 --arg rand:s32[64] --arg out:256
// help: grid-wide|another buffer
__global__ void blur(int* x, int* out) {
  int i = blockIdx.x * 32 + threadIdx.x;
  int v = x[i] + x[(i + 1) % 64]; // @A
#ifdef SOUND
  out[i] = v;
#else
  out[i] = 0;
  x[i] = v; // @B
#endif
}
