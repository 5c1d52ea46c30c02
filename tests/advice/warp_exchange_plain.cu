// Lanes exchange through shared memory as if they ran in step.
// launch: --arch sm_80 --grid 1 --block 32 --arg rand:s32[32] --arg out:128
// help: __syncwarp() between line
__global__ void reverse(const int* x, int* y) {
  __shared__ int s[32];
  s[threadIdx.x] = x[threadIdx.x]; // @A
#ifdef SOUND
  __syncwarp();
#endif
  y[threadIdx.x] = s[31 - threadIdx.x]; // @B
}
