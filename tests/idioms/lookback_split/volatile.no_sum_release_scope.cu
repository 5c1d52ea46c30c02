// volatile.cu without `sum_release_scope`; written by tests/idioms/derive.py.
// Inclusive scan in one pass by decoupled look-back: every tile publishes its sum and later its
// prefix, each announced by a flag of 32 bits. Values and flags are volatile, with fences.
// launch: --arch sm_80 --grid 5 --block 64 --arg list:u32[1*320] --arg out:1280
// launch: --arg zeros:u32[5] --arg out:20 --arg out:20
// expect: nondeterministic global @A @R

__device__ unsigned warp_scan(unsigned v) {
  for (int d = 1; d < 32; d *= 2) {
    unsigned left = __shfl_up_sync(~0u, v, d);
    if (threadIdx.x % 32 >= d) v += left;
  }
  return v;
}

__device__ unsigned look_back(int tile, unsigned own, volatile unsigned* flag,
                              volatile unsigned* sum, volatile unsigned* prefix) {
  sum[tile] = own; // @A
  __threadfence_block();
  flag[tile] = 1;
  unsigned before = 0;
  for (int t = tile - 1; t >= 0; --t) {
    unsigned seen;
    while ((seen = flag[t]) == 0) {
    }
    __threadfence();
    if (seen == 2) {
      before += prefix[t]; // @Q
      break;
    }
    before += sum[t]; // @R
  }
  prefix[tile] = before + own; // @P
  __threadfence();
  flag[tile] = 2;
  return before;
}

__global__ void scan(const unsigned* x, unsigned* y, unsigned* flag, unsigned* sum,
                     unsigned* prefix) {
  __shared__ unsigned half, before;
  int tile = blockIdx.x, i = tile * 64 + threadIdx.x;
  unsigned v = warp_scan(x[i]);
  if (threadIdx.x == 31) half = v; // @H
  __syncthreads();
  if (threadIdx.x >= 32) v += half; // @I
  if (threadIdx.x == 63) before = look_back(tile, v, flag, sum, prefix); // @S
  __syncthreads();
  y[i] = before + v; // @T
}
