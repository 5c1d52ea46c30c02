// A counter of all blocks is updated by atomics of block scope.
// launch: --arch sm_80 --grid 4 --block 32 --arg zeros:u32[1]
// help: atomicAdd()
__global__ void count(unsigned* total) {
#ifdef SOUND
  atomicAdd(total, 1u);
#else
  atomicAdd_block(total, 1u); // @A @B
#endif
}
