// The same without fences: the next holder may read, or write, before the exchange takes effect.
// launch: --entry push --grid 6 --block 32 --arg zeros:u32[2]
// expect: nondeterministic global @A @B
// expect: nondeterministic global @A @A
extern "C" __global__ void push(unsigned* state) {
  if (threadIdx.x > 0) return;
  while (atomicCAS(&state[0], 0, 1) != 0) {
  }
  const unsigned old = atomicAdd(&state[1], 0); // @B
  atomicExch(&state[1], old + blockIdx.x + 1); // @A
  atomicExch(&state[0], 0);
}
