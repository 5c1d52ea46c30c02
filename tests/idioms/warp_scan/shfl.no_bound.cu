// shfl.cu without `bound`; written by tests/idioms/derive.py.
// Sums from each element to the end of its warp; the lanes past the end have left before, and nobody
// takes from them. The mask of those that stay was voted on by all.
// launch: --arch sm_80 --grid 2 --block 64 --arg list:u32[1*100] --arg out:400 --arg u32:100
// expect: unspecified-value @S
__global__ void warp_sums(const unsigned* x, unsigned* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  unsigned stay = __ballot_sync(0xffffffffu, i < n);
  if (i >= n) return;
  unsigned v = x[i];
  for (unsigned d = 1; d < 32; d *= 2) {
    unsigned right = __shfl_down_sync(stay, v, d); // @S
    if (lane + d < 32) v += right;
  }
  y[i] = v;
}
