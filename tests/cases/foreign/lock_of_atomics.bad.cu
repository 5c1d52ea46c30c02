// The same without fences: the next holder may read, or write, before the update takes effect.
// launch: --entry push --grid 6 --block 32 --arg zeros:u32[2]
// expect: nondeterministic global @A @B
extern "C" __global__ void push(unsigned* state) {
  if (threadIdx.x > 0) return;
  while (atomicCAS(&state[0], 0, 1) != 0) {
  }
  unsigned old;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 0;" : "=r"(old) : "l"(&state[1]) : "memory"); // @B
  asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(&state[1]), "r"(old + blockIdx.x + 1) : "memory"); // @A
  atomicExch(&state[0], 0);
}
