// Two threads write one element: the stride is off by one.
// launch: --arch sm_80 --grid 1 --block 64 --arg rand:s32[64] --arg out:516
// help: only one of the threads
__global__ void spread(const int* x, int* y) {
  int t = threadIdx.x;
#ifdef SOUND
  y[2 * t] = x[t];
  y[2 * t + 1] = 1;
  if (t == 63) y[128] = 0;
#else
  y[2 * t] = x[t]; // @A
  y[2 * t + 1] = 1;
  y[2 * t + 2] = 0; // @B
#endif
}
