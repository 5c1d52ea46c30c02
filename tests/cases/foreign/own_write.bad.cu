// Each raises its own flag and looks at the other's: who looks first may see it down.
// launch: --entry announce --grid 2 --block 1 --arg zeros:u32[2] --arg zeros:u32[2]
// expect: nondeterministic global @B @A
extern "C" __global__ void announce(volatile unsigned* flag, unsigned* missed) {
  flag[blockIdx.x] = 1; // @A
  if (flag[1 - blockIdx.x] == 0) missed[blockIdx.x] = 1; // @B
}
