// The same without a fence before the announcement: all that a block has set may come later.
// launch: --entry claim --grid 2 --block 64 --arg zeros:u32[4] --arg out:4
// expect: nondeterministic global @A @B
__device__ void set(unsigned* p, unsigned bits) {
  asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(p), "r"(bits) : "memory"); // @A
}
__device__ unsigned look(unsigned* p) {
  unsigned v;
  asm volatile("atom.relaxed.gpu.global.or.b32 %0, [%1], 0;" : "=r"(v) : "l"(p) : "memory"); // @B
  return v;
}
extern "C" __global__ void claim(unsigned* word, unsigned* seen) {
  set(&word[blockIdx.x], 1u << threadIdx.x % 16);
  set(&word[blockIdx.x], 0x10000u << threadIdx.x % 16);
  __syncthreads();
  if (threadIdx.x > 0 || atomicAdd(&word[3], 1) == 0) return;
  __threadfence();
  *seen = (look(&word[0]) != 0) + (look(&word[1]) != 0);
}
