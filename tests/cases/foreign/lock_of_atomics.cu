// Under a lock only atomics touch the data: they still need the lock's fences to come in order.
// launch: --entry push --grid 6 --block 32 --arg zeros:u32[2]
// want 0 u32: 0 21
// expect: pass
extern "C" __global__ void push(unsigned* state) {
  if (threadIdx.x > 0) return;
  while (atomicCAS(&state[0], 0, 1) != 0) {
  }
  __threadfence();
  const unsigned old = atomicAdd(&state[1], 0);
  asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(&state[1]), "r"(old + blockIdx.x + 1) : "memory");
  __threadfence();
  atomicExch(&state[0], 0);
}
