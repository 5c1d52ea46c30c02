// Lanes that call __syncwarp() with different masks: each pair names itself, but reads a neighbour of another pair.
// launch: --arch sm_80 --grid 1 --block 32 --arg rand:s32[32] --arg out:128
// help: mask
__global__ void shift(const int* x, int* y) {
  __shared__ int cells[32];
  int lane = threadIdx.x;
  cells[lane] = x[lane];
#ifdef SOUND
  __syncwarp();
#else
  __syncwarp(3u << (lane & ~1));
#endif
  y[lane] = cells[(lane + 1) % 32];
}
