// Readers retry until the version is even and has not changed.
// launch: --entry seqlock --grid 2 --block 32 --arg zeros:u32[1] --arg list:u32[1,1] --arg zeros:u32[1]
// expect: pass
extern "C" __global__ void seqlock(volatile unsigned* version, unsigned* data, unsigned* bad) {
  if (threadIdx.x) return;
  volatile unsigned* d = data;
  if (blockIdx.x == 0) {
    *version = 1;
    __threadfence();
    d[0] = 2;
    d[1] = 2;
    __threadfence();
    *version = 2;
  } else {
    unsigned a, b, v;
    do {
      do v = *version; while (v & 1);
#ifndef NO_READER_FENCE
      __threadfence();
#endif
      a = d[0], b = d[1];
#ifndef NO_READER_FENCE
      __threadfence();
#endif
    } while (*version != v);
    if (a != b) *bad = 1;
  }
}
