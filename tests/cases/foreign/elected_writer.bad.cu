// launch: --entry swap_in --grid 1 --block 32 --arch sm_90 --arg list:u32[7] --arg out:4
// expect: race global @A @B
__device__ bool elected() {
  unsigned p;
  asm volatile("{ .reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(p)::"memory");
  return p != 0;
}
extern "C" __global__ void swap_in(unsigned* cell, unsigned* old) {
  if (threadIdx.x == 0) *old = *cell; // @A
  if (elected()) *cell = 5; // @B
}
