// exchange.cu without `release`; written by tests/idioms/derive.py.
// One block leaves a value by an exchange and counts, another waits for the count and takes the value.
// Not with nvcc -G, which keeps the result of the first exchange.
// launch: --arch sm_80 --entry hand_over --grid 2 --block 1 --arg zeros:u32[2] --arg out:4
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
