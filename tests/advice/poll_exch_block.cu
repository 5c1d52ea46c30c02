// A consumer warp polls by atomicExch, without a fence behind the loop; everyone of its warp then reads.
// launch: --arch sm_80 --grid 1 --block 64 --arg zeros:s32[32]
// help: __threadfence_block() after
// not: __syncthreads
__global__ void hand_over(int* y) {
  __shared__ int value[32];
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    value[lane] = lane * 3;
    __syncwarp();
    __threadfence_block();
    if (lane == 0) atomicExch(&flag, 1);
  } else {
    if (lane == 0)
      while (atomicExch(&flag, 0) == 0) {
      }
#ifdef SOUND
    __threadfence_block();
#endif
    __syncwarp();
    y[lane] = value[lane];
  }
}
