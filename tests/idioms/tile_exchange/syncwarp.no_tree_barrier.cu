// syncwarp.cu without `tree_barrier`; written by tests/idioms/derive.py.
// Block-wide sum in shared memory whose last steps run in one warp, with __syncwarp after each.
// launch: --arch sm_80 --grid 2 --block 128 --arg list:u32[2*256] --arg out:8
// expect: race shared @A @W
__global__ void block_sum(const unsigned* x, unsigned* sums) {
  __shared__ unsigned s[128];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 128 + t]; // @S
  __syncthreads();
  if (t < 64) s[t] += s[t + 64]; // @A
  if (t < 32) {
    unsigned v = s[t] + s[t + 32]; // @W
    v += __shfl_down_sync(0xffffffffu, v, 16);
    v += __shfl_down_sync(0xffffffffu, v, 8);
    s[t] = v; // @P
    __syncwarp();
    if (t == 0) sums[blockIdx.x] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7]; // @Q
  }
}
