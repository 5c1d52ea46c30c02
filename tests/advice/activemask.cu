// Positive values are counted in a warp; the mask of the counting lanes is taken from __activemask() in the branch.
// launch: --arch sm_80 --grid 1 --block 32 --arg rand:s32[32] --arg out:128
// help: __ballot_sync()
// not: keep clocks
__global__ void count(const int* x, unsigned* y) {
  const int v = x[threadIdx.x];
  unsigned who = 0;
#ifdef SOUND
  who = __ballot_sync(0xffffffff, v > 0);
#endif
  if (v > 0) {
#ifndef SOUND
    who = __activemask(); // @A
#endif
    y[threadIdx.x] = __popc(who);
  } else {
    y[threadIdx.x] = 0;
  }
}
