// A mask of __syncwarp() that names only half of the lanes that exchange.
// launch: --arch sm_80 --grid 1 --block 32 --arg rand:s32[32] --arg out:128
// help: mask
__global__ void reverse(const int* x, int* y) {
  __shared__ int cells[32];
  int lane = threadIdx.x;
  cells[lane] = x[lane];
#ifdef SOUND
  __syncwarp();
#else
  if (lane < 16) __syncwarp(0x0000ffff);
  else __syncwarp(0xffff0000);
#endif
  y[lane] = cells[31 - lane];
}
