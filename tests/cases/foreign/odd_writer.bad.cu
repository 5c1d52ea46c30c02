// One of a thousand writes another value than all others.
// launch: --entry raise --grid 1 --block 1024 --arg zeros:u32[1]
// expect: nondeterministic global @A
extern "C" __global__ void raise(volatile unsigned* flag) {
  *flag = threadIdx.x == 700 ? 2 : 1; // @A
}
