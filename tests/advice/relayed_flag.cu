// A message goes through a third block: the first one has no fence between the data and its flag.
// launch: --arch sm_80 --grid 3 --block 1 --arg zeros:u32[96] --arg out:4:0
// help: __threadfence() before the flag's store at relayed_flag.cu:12
__global__ void relay(volatile unsigned* x, unsigned* bad) {
  volatile unsigned *first = x + 32, *second = x + 64;
  if (blockIdx.x == 0) {
    *x = 1; // @A
#ifdef SOUND
    __threadfence();
#endif
    // the second block looks at this one
    *first = 1;
  } else if (blockIdx.x == 1) {
    while (*first == 0) {}
    __threadfence();
    *second = 1;
  } else {
    while (*second == 0) {}
    __threadfence();
    if (*x == 0) *bad = 1; // @B
  }
}
