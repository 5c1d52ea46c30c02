// One warp hands numbers to another through a flag that is 0 or 1; some get lost.
// launch: --arch sm_80 --grid 1 --block 64 --arg zeros:u32[3]
// help: turn
// not: add __syncthreads
__global__ void hand_over(unsigned* out) {
  __shared__ volatile unsigned flag, data;
  if (threadIdx.x == 0) flag = data = 0;
  __syncthreads();
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x == 0) {
#ifdef SOUND
      while (flag != 0) {
      }
      __threadfence_block();
#endif
      data = i + 7;
      __threadfence_block();
      flag = 1;
    }
    if (threadIdx.x == 32) {
      while (flag == 0) {
      }
      __threadfence_block();
      out[i] = data;
#ifdef SOUND
      __threadfence_block();
#endif
      flag = 0;
    }
  }
}
