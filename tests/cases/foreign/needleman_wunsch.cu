// Alignment by diagonals of a tile in shared memory.
// launch: --entry nw --grid 2 --block 16 --arg rand:s32[512] --arg out:2048 --arg s32:3
// expect: pass proved
// Needleman-Wunsch, a tile in a block's shared memory by diagonals (a half warp)
extern "C" __global__ void nw(const int* ref, int* out, int penalty) {
  __shared__ int m[17][17];
  int t = threadIdx.x;
  const int* r = ref + blockIdx.x * 256;
  m[0][t + 1] = -(t + 1) * penalty, m[t + 1][0] = -(t + 1) * penalty;
  if (t == 0) m[0][0] = 0;
  __syncthreads();
  for (int d = 0; d < 16; ++d) {
    if (t <= d) {
      int x = t + 1, y = d - t + 1;
      m[y][x] = max(m[y - 1][x - 1] + r[(y - 1) * 16 + x - 1], max(m[y][x - 1], m[y - 1][x]) - penalty);
    }
#ifndef NO_SYNC
    __syncthreads();
#endif
  }
  for (int d = 14; d >= 0; --d) {
    if (t <= d) {
      int x = t + 16 - d, y = 16 - t;
      m[y][x] = max(m[y - 1][x - 1] + r[(y - 1) * 16 + x - 1], max(m[y][x - 1], m[y - 1][x]) - penalty);
    }
    __syncthreads();
  }
  for (int i = 0; i < 16; ++i) out[blockIdx.x * 256 + i * 16 + t] = m[i + 1][t + 1];
}
