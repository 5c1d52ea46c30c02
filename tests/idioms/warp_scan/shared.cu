// Sums up to each element within warps through shared memory; lanes past the end have left before,
// and those that stay synchronise among themselves.
// launch: --arch sm_80 --grid 1 --block 64 --arg list:u32[1*40] --arg out:160 --arg u32:40
// want 1 u32: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
// want 1 u32: 1 2 3 4 5 6 7 8
// expect: pass proved
// twin read_sync: race shared @W @R
// twin write_sync: race shared @W @R
__global__ void warp_sums(const unsigned* x, unsigned* y, unsigned n) {
  __shared__ unsigned cells[64];
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, lane = t % 32;
  unsigned stay = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  unsigned v = x[i];
#pragma unroll 1
  for (unsigned d = 1; d < 32; d *= 2) {
    cells[t] = v; // @W
    __syncwarp(stay); // ~write_sync
    if (lane >= d) v += cells[t - d]; // @R
    __syncwarp(stay); // ~read_sync
  }
  y[i] = v;
}
