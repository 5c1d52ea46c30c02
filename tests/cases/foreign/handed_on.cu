// Blocks hand a message on, each to the next; the last one looks at what the first wrote.
// launch: --entry k --grid 6 --block 32 --arg zeros:u32[8] --arg zeros:u32[8] --arg zeros:u32[8] --arg zeros:u32[2]
// expect: pass
#define F1 __threadfence()
#ifdef NOF2
#define F2
#else
#define F2 __threadfence()
#endif
#define F3 __threadfence()
extern "C" __global__ void k(unsigned* data, unsigned* flags, unsigned* y, unsigned* lock) {
  volatile unsigned* flag = flags;
  if (threadIdx.x) return;
  unsigned b = blockIdx.x, n = gridDim.x;
  if (b == 0) { data[0] = 5; F1; flag[1] = 1; }
  else {
    while (!flag[b]) {}
    F2;
    if (b == n - 1) { y[0] = data[0]; }
    F3;
    if (b < n - 1) flag[b + 1] = 1;
  }
}
