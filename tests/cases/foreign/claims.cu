// All threads of a block set bits of its word, twice; its thread 0 then announces the block, and the
// last one looks whether every block has set any.
// launch: --entry claim --grid 2 --block 64 --arg zeros:u32[4] --arg out:4
// want 1 u32: 2
// expect: pass
__device__ void set(unsigned* p, unsigned bits) {
  asm volatile("red.relaxed.gpu.global.or.b32 [%0], %1;" ::"l"(p), "r"(bits) : "memory");
}
__device__ unsigned look(unsigned* p) {
  unsigned v;
  asm volatile("atom.relaxed.gpu.global.or.b32 %0, [%1], 0;" : "=r"(v) : "l"(p) : "memory");
  return v;
}
extern "C" __global__ void claim(unsigned* word, unsigned* seen) {
  set(&word[blockIdx.x], 1u << threadIdx.x % 16);
  set(&word[blockIdx.x], 0x10000u << threadIdx.x % 16);
  __threadfence();
  __syncthreads();
  if (threadIdx.x > 0 || atomicAdd(&word[3], 1) == 0) return;
  __threadfence();
  *seen = (look(&word[0]) != 0) + (look(&word[1]) != 0);
}
