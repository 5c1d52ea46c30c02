// Rows of a table get gradients by +=; two lanes of one warp may have the same row.
// launch: --arch sm_80 --grid 1 --block 32 --arg rand:u32[32] --arg rand:s32[32] --arg zeros:s32[8]
// help: atomic
// not: let one thread store
__global__ void scatter_add(const unsigned* token, const int* g, int* rows) {
#ifdef SOUND
  atomicAdd(&rows[token[threadIdx.x] % 8], g[threadIdx.x]);
#else
  rows[token[threadIdx.x] % 8] += g[threadIdx.x]; // @A
#endif
}
