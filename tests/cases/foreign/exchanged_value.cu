// One block leaves a value by an exchange and counts, another waits for the count and takes the value.
// launch: --entry hand_over --grid 2 --block 1 --arg zeros:u32[2] --arg out:4
// want 1 u32: 77
// expect: pass
extern "C" __global__ void hand_over(unsigned* box, unsigned* y) {
  if (blockIdx.x == 0) {
    atomicExch(box, 77);
    __threadfence();
    atomicAdd(box + 1, 1);
  } else {
    while (atomicAdd(box + 1, 0) == 0) {
    }
    __threadfence();
    *y = atomicExch(box, 0);
  }
}
