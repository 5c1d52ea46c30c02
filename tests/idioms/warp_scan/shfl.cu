// Sums from each element to the end of its warp; the lanes past the end have left before, and nobody
// takes from them. The mask of those that stay was voted on by all.
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[1*100] --arg out:400 --arg u32:100
// want 1 u32: 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1
// want 1 u32: 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1
// want 1 u32: 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1
// want 1 u32: 4 3 2 1
// expect: pass
// twin bound: unspecified-value @S
// twin mask: invalid-lane-mask @S
__global__ void warp_sums(const unsigned* x, unsigned* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  unsigned stay = __ballot_sync(0xffffffffu, i < n); // ~mask{i < n => i + 1 < n}
  if (i >= n) return;
  unsigned v = x[i];
  for (unsigned d = 1; d < 32; d *= 2) {
    unsigned right = __shfl_down_sync(stay, v, d); // @S
    if (lane + d < 32 && i + d < n) v += right; // ~bound{ && i + d < n => }
  }
  y[i] = v;
}
