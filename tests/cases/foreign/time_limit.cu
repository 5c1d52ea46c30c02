// Who waits for a flag gives up, with a trap, when a time has passed that no wait should take.
// launch: --entry wait --grid 2 --block 32 --arg zeros:u32[1] --arg out:4
// want 1 u32: 5
// expect: pass
extern "C" __global__ void wait(unsigned* flag, unsigned* seen) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    atomicExch(flag, 5);
    return;
  }
  long long begin, now;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(begin));
  unsigned value;
  while ((value = *(volatile unsigned*)flag) == 0) {
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now));
    if (now - begin > 20000000000ll) {
#ifdef GO_ON
      break;
#else
      __trap();
#endif
    }
  }
  *seen = value;
}
