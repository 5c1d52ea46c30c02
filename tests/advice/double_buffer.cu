// Two buffers and one barrier a turn, but the tile that is filled is the one that others may still read.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:s32[512] --arg out:256
// help: __syncthreads()
__global__ void shift(const int* x, int* y) {
  __shared__ int tile[2][64];
  int t = threadIdx.x, sum = 0;
  for (int i = 0; i < 8; ++i) {
#ifdef SOUND
    int b = i % 2;
#else
    int b = i / 2 % 2;
#endif
    tile[b][t] = x[i * 64 + t]; // @A
    __syncthreads();
    sum += tile[b][63 - t]; // @B
  }
  y[t] = sum;
}
