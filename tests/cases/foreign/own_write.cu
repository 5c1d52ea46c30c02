// Two blocks raise one flag and look at it: whatever the other one does, each sees a flag that is up.
// launch: --entry announce --grid 2 --block 1 --arg zeros:u32[1] --arg zeros:u32[1]
// want 0 u32: 1
// want 1 u32: 0
// expect: pass
extern "C" __global__ void announce(volatile unsigned* flag, unsigned* missed) {
  *flag = 1;
  if (*flag == 0) *missed = 1;
}
