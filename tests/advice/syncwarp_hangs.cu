// One lane's mask names all lanes, the others' only themselves: they never meet.
// launch: --arch sm_80 --grid 1 --block 32 --arg rand:s32[32] --arg out:128
// help: mask
__global__ void reverse(const int* x, int* y) {
  __shared__ int cells[32];
  int lane = threadIdx.x;
  cells[lane] = x[lane];
#ifdef SOUND
  __syncwarp();
#else
  __syncwarp(lane == 0 ? 0xffffffffu : 0xfffffffeu);
#endif
  y[lane] = cells[31 - lane];
}
