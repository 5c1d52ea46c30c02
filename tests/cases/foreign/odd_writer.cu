// A thousand threads raise one flag, all to the same value.
// launch: --entry raise --grid 1 --block 1024 --arg zeros:u32[1]
// want 0 u32: 1
// expect: pass
extern "C" __global__ void raise(volatile unsigned* flag) { *flag = 1; }
