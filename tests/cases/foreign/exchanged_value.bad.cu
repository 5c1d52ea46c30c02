// Without a fence before the count the exchange may take effect after the one that takes it.
// launch: --entry hand_over --grid 2 --block 1 --arg zeros:u32[2] --arg out:4
// expect: nondeterministic global @A @B
extern "C" __global__ void hand_over(unsigned* box, unsigned* y) {
  if (blockIdx.x == 0) {
    atomicExch(box, 77); // @A
    atomicAdd(box + 1, 1);
  } else {
    while (atomicAdd(box + 1, 0) == 0) {
    }
    __threadfence();
    *y = atomicExch(box, 0); // @B
  }
}
